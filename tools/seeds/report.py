"""The tables: as text, as CSV, and report.html, one file with its pictures inside."""
import csv
import html

from judge import change, default_behind

STYLE = """body{font:15px/1.45 sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}th,td{padding:.25em .7em;border-bottom:1px solid #ccc;
text-align:right;white-space:nowrap}th:first-child,td:first-child{text-align:left}
tr.red td{background:#fbd5d5}td.red{background:#fbd5d5;font-weight:bold}tr.other td{color:#666}
td.note{white-space:normal;text-align:left}small{color:#666}pre{background:#f4f4f4;padding:.7em;
overflow:auto}th.group{text-align:left;padding-top:1em}svg{max-width:100%;height:auto}"""
VERDICTS = {True: "yes", False: "no", None: "-"}


def number(value):
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def simulated(row, arm):
    low, middle, high = row["spreads"][arm]
    return f"{number(middle)} ({number(low)} .. {number(high)})"


def text_table(seed, rows):
    """For the terminal: one line a row."""
    a, b = seed.arms["a"].label, seed.arms["b"].label
    lines = [f"seed {seed.number}: {seed.acceptance['title']}; a = {a}, b = {b}; change from a to b",
             f"  {'':44}{'seed':>9}{'simulated':>11}{'default v better':>18}  agrees"]
    for row in rows:
        lines.append(f"  {row['row'][:43]:44}{change(row['seed_a'], row['seed_b']):>+8.1f}%"
                     f"{change(row['sim_a'], row['sim_b']):>+10.1f}%"
                     f"{-default_behind(row):>+17.1f}%  {VERDICTS[row['ok']]}"
                     f"{', not: ' + ', '.join(row['failed']) if row['failed'] else ''}")
    return "\n".join(lines)


def write_csv(path, rows):
    """Every value of every random seed."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("row", "unit", "arm", "random seed", "simulated"))
        for row in rows:
            for arm, values in row["values"].items():
                for i, value in enumerate(values):
                    out.writerow((row["row"], row["unit"], arm, i + 1, f"{value:.9g}"))


def cells(tag, texts):
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def row_html(row):
    kind = "red" if row["ok"] is False else "" if row["declared"] else "other"
    behind = default_behind(row)
    texts = (f"{row['row']}, {row['unit']}", number(row["seed_a"]), simulated(row, "a"),
             number(row["seed_b"]), simulated(row, "b"),
             f"{change(row['seed_a'], row['seed_b']):+.1f} %",
             f"{change(row['sim_a'], row['sim_b']):+.1f} %", row["claim"] if row["declared"] else "",
             VERDICTS[row["ok"]], simulated(row, "default"))
    fault = ' class="red"' if row["default_ok"] is False else ""
    verdict = f"<td{fault}>{-behind:+.1f} %</td>"
    lines = [f'<tr class="{kind}">{cells("td", texts)}{verdict}</tr>']
    if row["failed"]:
        tried = row["tried"] or "nothing yet"
        lines.append(f'<tr class="red"><td></td><td class="note" colspan="10">does not hold: '
                     f'{html.escape(", ".join(row["failed"]))}. Tried: {html.escape(tried)}</td></tr>')
    return "\n".join(lines)


def table_html(seed, rows):
    a, b = (html.escape(seed.arms[arm].label) for arm in "ab")
    head = (f"<tr><th></th><th>{a}: seed</th><th>{a}: <em>simulated</em></th><th>{b}: seed</th>"
            f"<th>{b}: <em>simulated</em></th><th>change: seed</th><th>change: <em>simulated</em></th>"
            "<th>claim</th><th>agrees</th><th>Numen's default: <em>simulated</em></th>"
            "<th>default v the better arm</th></tr>")
    lines, group = ["<table>", head], None
    for row in rows:
        if row["group"] and row["group"] != group:
            lines.append(f'<tr><th class="group" colspan="11">{html.escape(row["group"])}</th></tr>')
        group = row["group"]
        lines.append(row_html(row))
    return "\n".join(lines + ["</table>"])


def ablations_html(rows):
    """A grid: rows by what Numen's default is made to do without."""
    with_grid = [row for row in rows if row["ablations"]]
    if not with_grid:
        return ""
    labels = [label for label, _ in with_grid[0]["ablations"]]
    lines = ["<h3>Ablations</h3><p><em>Simulated</em> medians of Numen's default with one thing "
             "changed, and by how much that is better (+) or worse (-).</p><table>",
             f"<tr><th></th><th>default</th>{cells('th', labels)}</tr>"]
    for row in with_grid:
        sign = 1 if row["better"] == "higher" else -1
        texts = [f"{number(value)} ({sign * change(row['default'], value):+.1f} %)"
                 for _, value in row["ablations"]]
        lines.append(f"<tr>{cells('td', [row['row'], number(row['default'])] + texts)}</tr>")
    return "\n".join(lines + ["</table>"])


def seed_html(seed, rows, seeds, parameters, picture):
    words = seed.acceptance
    claims = "".join(f"<li>{html.escape(words[key])}</li>" for key in words if key.startswith("claim"))
    arms = "".join(f"<li>{arm}: {html.escape(part.label)} "
                   f"<code>{html.escape(' '.join(f'{k}={v}' for k, v in part.settings.items()))}"
                   "</code></li>" for arm, part in seed.arms.items())
    return (f"<h2>Seed {seed.number}: {html.escape(words['title'])}</h2>"
            f"<p>Seed's numbers: {html.escape(words['source'])}. All others are <em>simulated</em>: "
            f"medians over {seeds} random seeds (quartiles).</p>"
            f"<p>Accepted, as written before the first run:</p><ul>{claims}</ul>"
            f"<p>Arms:</p><ul>{arms}</ul>{table_html(seed, rows)}{picture}{ablations_html(rows)}"
            f"<details open><summary>Parameters (the scenario of the first row, arm a; all others "
            f"are in scenarios/)</summary><pre>{html.escape(parameters)}</pre></details>")


def write_html(path, parts):
    path.write_text("<!DOCTYPE html><html lang='en'><meta charset='utf-8'>"
                    f"<title>Numen: the seeds, simulated</title><style>{STYLE}</style>"
                    "<h1>The seeds, simulated</h1><p>Red rows disagree with the claim written "
                    "beforehand; grey rows are variants beside the declared one and are not judged. A "
                    "red last cell: Numen's default is over 1 % worse than the better arm.</p>"
                    + "".join(parts) + "</html>\n", encoding="utf-8")
