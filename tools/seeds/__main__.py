#!/usr/bin/python3
"""`make seeds`: the seeds' tables, simulated; SEEDS='seed1 --seeds 2' picks and shortens.

    tools/seeds [seed1...] [--seeds N] [--duration TIME] [--out FOLDER] [--program NUMEN-SIM]

Writes into build/seeds: report.html, seeds.json, and of each seed CSV, text table and SVG. What is
compared and what counts as agreement stands in tests/seeds/seedN.ini (seedfile.py, judge.py).
"""
import argparse
import configparser
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import plot  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import seedfile  # noqa: E402
import simulator  # noqa: E402
from runs import Runs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/seeds"
SEEDS_MAX = 10000  # as numen-sim takes


def count_of_seeds(text):
    if not text.isdecimal() or not 1 <= int(text) <= SEEDS_MAX:
        raise argparse.ArgumentTypeError(f"{text}: a number from 1 to {SEEDS_MAX}")
    return int(text)


def refuse(message):
    """One line, as numen-sim does."""
    print(f"seeds: {message}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        refuse(message)


def arguments():
    parser = Parser(prog="seeds", description="The seeds' tables, simulated.")
    parser.add_argument("names", nargs="*", metavar="seedN",
                        help="or a path that ends in .ini; all of tests/seeds otherwise")
    parser.add_argument("--seeds", type=count_of_seeds, help="random seeds; as in the file otherwise")
    parser.add_argument("--duration", help="of every run, for a try: figures mean nothing then")
    parser.add_argument("--program", default=simulator.PROGRAM)
    parser.add_argument("--out", type=Path, default=ROOT / "build/seeds")
    return parser.parse_intermixed_args()


def read_seeds(names):
    there = sorted(FOLDER.glob("seed*.ini"))
    paths = [Path(name) if name.endswith(".ini") else FOLDER / f"{name}.ini" for name in names]
    for path in paths:
        if not path.exists():
            refuse(f"{path} is unknown; there are {' '.join(p.stem for p in there)}")
    return [seedfile.read(path) for path in paths or there]


def write_seed(seed, rows, count, out, first):
    table = report.text_table(seed, rows)
    print(table, end="\n\n", flush=True)
    (out / f"seed{seed.number}.txt").write_text(table + "\n", encoding="utf-8")
    report.write_csv(out / f"seed{seed.number}.csv", rows)
    return report.seed_html(seed, rows, count, first, plot.draw(seed, rows, out))


def compare(args):
    limits = {"duration": args.duration, "warmup": "0"} if args.duration else {}
    seeds = read_seeds(args.names)
    runs = Runs(args.program, args.out / "scenarios")
    counts = [args.seeds or int(seed.acceptance["seeds"]) for seed in seeds]
    plans = [results.plan(seed, runs, count, limits) for seed, count in zip(seeds, counts)]
    try:
        runs.wait()
    except RuntimeError:
        runs.give_up()
        raise
    parts, rows = [], []
    for seed, planned, count in zip(seeds, plans, counts):
        got = results.collect(seed, planned, runs)
        first = seed.scenario(planned[0][0], "a", limits=limits)
        parts.append(write_seed(seed, got, count, args.out, first))
        rows += [results.public(row) for row in got]
    (args.out / "seeds.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    report.write_html(args.out / "report.html", parts, rows)
    wrong = sum(row["ok"] is False for row in rows)
    print(f"simulated: {len(rows)} rows, {wrong} of those judged disagree; "
          f"{args.out / 'report.html'}")


def main():
    args = arguments()
    try:
        compare(args)
    except (RuntimeError, ValueError, KeyError, OSError, configparser.Error) as error:
        refuse(error.args[0] if isinstance(error, KeyError) else error)


if __name__ == "__main__":
    main()
