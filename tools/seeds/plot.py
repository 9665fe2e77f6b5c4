"""A bar chart a seed by gnuplot: the change from arm a to arm b, the seed's beside the simulated."""
import subprocess

from judge import change, default_behind

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
plot '{data}' using 2:xtic(1) title 'seed' lc rgb '#888888', \\
     '' using 3 title 'simulated' lc rgb '#3366bb', \\
     '' using 4 title 'default v better arm' lc rgb '#44aa55'
"""


LIMIT = 200  # per cent; bars that end there go on


def quoted(text):
    return text.replace("'", "''")


def shown(value):
    """What is far beyond the others would leave nothing of them."""
    return max(-LIMIT, min(LIMIT, value))


def draw(seed, rows, folder):
    """Writes seedN.dat and seedN.svg; the picture's text."""
    data, svg = folder / f"seed{seed.number}.dat", folder / f"seed{seed.number}.svg"
    with open(data, "w", encoding="utf-8") as file:
        for row in rows:
            sign = 1 if row["better"] == "higher" else -1
            name = row["row"].replace('"', "'")
            file.write(f'"{name}" {shown(change(row["seed_a"], row["seed_b"])):.3f} '
                       f'{shown(change(row["sim_a"], row["sim_b"])):.3f} '
                       f'{shown(-sign * default_behind(row)):.3f}\n')
    better = {row["better"] for row in rows}
    subprocess.run(["gnuplot"], text=True, check=True, input=SCRIPT.format(
        svg=svg, data=data, number=seed.number, height=560, a=quoted(seed.arms["a"].label),
        b=quoted(seed.arms["b"].label), better=f" ({better.pop()} is better)" if len(better) == 1 else ""))
    text = svg.read_text(encoding="utf-8")
    return text[text.index("<svg"):]
