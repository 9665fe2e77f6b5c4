"""The tables: as text, as CSV, and report.html, one file with its pictures inside."""
import csv
import html

from judge import change, default_ahead

STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:80em;margin:2em auto;padding:0 1.5em;
color:#222;background:#fff}h1,h2,h3{line-height:1.2}h2{margin-top:2.5em;border-bottom:2px solid #36b;
padding-bottom:.2em}.scroll{overflow-x:auto}table{border-collapse:collapse;margin:1em 0;font-size:14px}
th,td{padding:.3em .7em;border-bottom:1px solid #ddd;text-align:right;vertical-align:top;
font-variant-numeric:tabular-nums}th{background:#f2f5fa;vertical-align:bottom}
td:first-child{text-align:left;min-width:15em}th.wide{text-align:center}
.edge{border-left:2px solid #c8d2e4}small{color:#666;display:block;font-size:85%}
tr.red td{background:#fbd5d5}td.red{background:#f3a6a6!important;font-weight:bold}
tr.other td{color:#777}td.note{text-align:left;font-size:90%}th.group{text-align:left;
background:#fff;padding-top:1em}pre{background:#f4f4f4;padding:.7em;overflow:auto;font-size:13px}
svg{max-width:100%;height:auto}nav a{margin-right:1.2em}summary{cursor:pointer}
.one,small{white-space:nowrap}td:first-child small{white-space:normal}"""
VERDICTS = {True: "yes", False: "no", None: "-"}


def number(value):
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def percent(a, b):
    """The change from a to b; as a factor where per cents say nothing."""
    if not a:
        return "=" if not b else "from 0"
    return f"{0.0 + change(a, b):+.1f} %" if abs(change(a, b)) < 1000 else f"x {b / a:,.0f}"


def text_table(seed, rows):
    """For the terminal: one line a row."""
    a, b = seed.arms["a"].label, seed.arms["b"].label
    lines = [f"seed {seed.number}: {seed.acceptance['title']}; a = {a}, b = {b}; change from a to b",
             f"  {'':44}{'seed':>10}{'simulated':>12}{'default ahead':>18}  agrees"]
    for row in rows:
        lines.append(f"  {row['row'][:43]:44}{percent(row['seed_a'], row['seed_b']):>10}"
                     f"{percent(row['sim_a'], row['sim_b']):>12}"
                     f"{default_ahead(row):>+16.1f} %  {VERDICTS[row['ok']]}"
                     f"{', it is not so that ' + ', '.join(row['failed']) if row['failed'] else ''}")
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


def median_html(row, arm, edge=""):
    """The median, and the quartiles where they differ from it."""
    low, middle, high = (number(value) for value in row["spreads"][arm])
    spread = "" if low == high else f"<small>{low} .. {high}</small>"
    return f"<td{edge}>{middle}{spread}</td>"


def row_html(row):
    kind = "red" if row["ok"] is False else "" if row["declared"] else "other"
    fault = "red" if row["default_ok"] is False else ""
    edge = ' class="edge"'
    claim = f"<small>claim: {html.escape(', '.join(row['claims']))}</small>" if row["declared"] else ""
    parts = [f"<td>{html.escape(row['row'])}, {html.escape(row['unit'])}{claim}</td>",
             f"<td{edge}>{number(row['seed_a'])}</td>", f"<td>{number(row['seed_b'])}</td>",
             f"<td class='one'>{percent(row['seed_a'], row['seed_b'])}</td>",
             median_html(row, "a", edge), median_html(row, "b"),
             f"<td class='one'>{percent(row['sim_a'], row['sim_b'])}</td>", f"<td>{VERDICTS[row['ok']]}</td>",
             median_html(row, "default", edge),
             f'<td class="{fault}">{default_ahead(row):+.1f} %</td>']
    lines = [f'<tr class="{kind}">{"".join(parts)}</tr>']
    if row["failed"]:
        tried = row["tried"] or "nothing yet"
        lines.append(f'<tr class="red"><td class="note" colspan="10">It is not so that '
                     f'{html.escape(", ".join(row["failed"]))}. Tried: {html.escape(tried)}</td></tr>')
    return "\n".join(lines)


def table_html(seed, rows):
    """In the seed's own layout, the seed's numbers and the simulated ones beside each other."""
    a, b = (html.escape(seed.arms[arm].label) for arm in "ab")
    arms = f'<th class="edge">{a}</th><th>{b}</th><th>change</th>'
    lines, group = ['<div class="scroll"><table><tr><th rowspan="2"></th>'
                    '<th colspan="3" class="wide edge">the seed</th>'
                    '<th colspan="4" class="wide edge"><em>simulated</em></th>'
                    '<th colspan="2" class="wide edge">Numen\'s default, <em>simulated</em></th></tr>'
                    f'<tr>{arms}{arms}<th>agrees</th><th class="edge">median</th>'
                    '<th>ahead of the better arm</th></tr>'], None
    for row in rows:
        if row["group"] and row["group"] != group:
            lines.append(f'<tr><th class="group" colspan="10">{html.escape(row["group"])}</th></tr>')
        group = row["group"]
        lines.append(row_html(row))
    return "\n".join(lines + ["</table></div>"])


def ablations_html(rows):
    """A grid: rows by what Numen's default is made to do without."""
    with_grid = [row for row in rows if row["ablations"]]
    if not with_grid:
        return ""
    labels = [label for label, _ in with_grid[0]["ablations"]]
    lines = ["<h3>Ablations</h3><p><em>Simulated</em> medians of Numen's default with one thing "
             "changed, and by how much that is better (+) or worse (-).</p>"
             '<div class="scroll"><table>',
             f"<tr><th></th><th>default</th>{cells('th', labels)}</tr>"]
    for row in with_grid:
        sign = 1 if row["better"] == "higher" else -1
        grid = "".join(f"<td>{number(value)}<small>{sign * change(row['default'], value):+.1f} %"
                       "</small></td>" for _, value in row["ablations"])
        lines.append(f"<tr>{cells('td', [row['row'], number(row['default'])])}{grid}</tr>")
    return "\n".join(lines + ["</table></div>"])


def seed_html(seed, rows, seeds, parameters, picture):
    words = seed.acceptance
    claims = "".join(f"<li>{html.escape(words[key])}</li>" for key in words if key.startswith("claim"))
    arms = "".join(f"<li>{arm}: {html.escape(part.label)} "
                   f"<code>{html.escape(' '.join(f'{k}={v}' for k, v in part.settings.items()))}"
                   "</code></li>" for arm, part in seed.arms.items())
    return (f"<h2 id='seed{seed.number}'>Seed {seed.number}: {html.escape(words['title'])}</h2>"
            f"<p>Seed's numbers: {html.escape(words['source'])}. All others are <em>simulated</em>: "
            f"medians over {seeds} random seeds (quartiles).</p>"
            f"<p>Accepted, as written before the first run:</p><ul>{claims}</ul>"
            f"<p>Arms:</p><ul>{arms}</ul>{table_html(seed, rows)}{picture}{ablations_html(rows)}"
            f"<details><summary>Parameters (the scenario of the first row, arm a; all others "
            f"are in scenarios/)</summary><pre>{html.escape(parameters)}</pre></details>")


def summary_html(rows):
    """What agrees and where the default stands, a line a seed."""
    lines = ["<table><tr><th></th><th>rows judged</th><th>agree</th><th>disagree</th>"
             "<th>default no worse than the better arm (1 %)</th></tr>"]
    for number_of in sorted({row["seed"] for row in rows}):
        mine = [row for row in rows if row["seed"] == number_of]
        agree, wrong = (sum(row["ok"] is word for row in mine) for word in (True, False))
        held = [row["default_ok"] for row in mine if row["default_ok"] is not None]
        default = f"{sum(held)} of {len(held)} rows" if held else "a stated trade"
        fault = ' class="red"' if wrong else ""
        lines.append(f"<tr><td><a href='#seed{number_of}'>Seed {number_of}</a></td>"
                     f"<td>{agree + wrong}</td><td>{agree}</td><td{fault}>{wrong}</td>"
                     f"<td{'' if all(held) else ' class=red'}>{default}</td></tr>")
    return "\n".join(lines + ["</table>"])


def write_html(path, parts, rows):
    path.write_text("<!DOCTYPE html><html lang='en'><meta charset='utf-8'>"
                    "<meta name='viewport' content='width=device-width'>"
                    f"<title>Numen: the seeds, simulated</title><style>{STYLE}</style>"
                    "<h1>The seeds, simulated</h1><p>Red rows disagree with the claim written "
                    "beforehand; grey rows are variants beside the declared one and are not judged. A "
                    "red last cell: Numen's default is over 1 % worse than the better arm. Models and "
                    "their sources: docs/seeds.md.</p>"
                    + summary_html(rows) + "".join(parts) + "</html>\n", encoding="utf-8")
