"""A bar chart a seed by gnuplot: the change from arm a to arm b, the seed's beside the simulated.

Figures and signs are the table's. A bar that would leave nothing of the others is cut and says its
figure.
"""
import subprocess

from judge import change, default_ahead

SCRIPT = """set terminal svg size 1100,{height} font 'sans,12' background 'white'
set output '{svg}'
set title 'Seed {number}: change from {a} to {b}, per cent{better}'
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set boxwidth 0.9
set grid ytics
set xtics rotate by -35 scale 0 font 'sans,10'
set bmargin 11
set rmargin 14
set key outside bottom center horizontal
set xzeroaxis lt -1
{labels}
plot '{data}' using 2:xtic(1) title 'seed' lc rgb '#888888', \\
     '' using 3 title 'simulated' lc rgb '#3366bb', \\
     '' using 4 title 'default ahead of the better arm (behind: below 0)' lc rgb '#44aa55'
"""
LIMIT = 200  # per cent; bars that end there go on
BARS = 3


def quoted(text):
    return text.replace("'", "''")


def shown(value):
    """What is far beyond the others would leave nothing of them."""
    return max(-LIMIT, min(LIMIT, value))


def figures(row):
    """Of one cluster of bars."""
    return (change(row["seed_a"], row["seed_b"]), change(row["sim_a"], row["sim_b"]), default_ahead(row))


def labels(rows):
    """The figures of bars that were cut, upright at their ends."""
    lines = []
    for i, row in enumerate(rows):
        for bar, value in enumerate(figures(row)):
            if abs(value) > LIMIT:
                x = i + (bar - (BARS - 1) / 2) / (BARS + 1)
                side = "right" if value > 0 else "left"
                lines.append(f"set label ' {value:+,.0f} % ' at first {x:.3f}, first {shown(value)} "
                             f"rotate by 90 {side} front font 'sans,9' textcolor rgb 'white'")
    return "\n".join(lines)


def draw(seed, rows, folder):
    """Writes seedN.dat and seedN.svg; the picture's text."""
    data, svg = folder / f"seed{seed.number}.dat", folder / f"seed{seed.number}.svg"
    with open(data, "w", encoding="utf-8") as file:
        for row in rows:
            name = row["row"].replace('"', "'")
            file.write(f'"{name}" {" ".join(f"{shown(value):.3f}" for value in figures(row))}\n')
    better = {row["better"] for row in rows}
    subprocess.run(["gnuplot"], text=True, check=True, input=SCRIPT.format(
        svg=svg, data=data, number=seed.number, height=560, labels=labels(rows), a=quoted(seed.arms["a"].label),
        b=quoted(seed.arms["b"].label), better=f" ({better.pop()} is better)" if len(better) == 1 else ""))
    text = svg.read_text(encoding="utf-8")
    return text[text.index("<svg"):]
