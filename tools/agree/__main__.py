#!/usr/bin/python3
"""`make agree`: the same small scenarios in numen-sim and, as guests, under Bochs; AGREE='lock' picks.

    tools/agree [weights] [lock] [pingpong]    all by default; results in build/agree.json
    tools/agree seed3                          seed 3 measured under Bochs, simulated beside it

The costs that numen-sim is given are measured first (costs.py). In Bochs an instruction is a tick and
the ticks are the virtual time, so two runs give the same figures; docs/agree.md says what differs and why.
"""
import json
import os
import sys

import cases
import costs
import seed3
from guests import ROOT

RESULTS = ROOT / "build/agree.json"
LIMIT = 15.0  # per cent; a larger difference has its reason in docs/agree.md


def compare(case, measured_costs):
    bochs, simulated = case.measure(), case.simulate(measured_costs)
    rows = []
    for name, unit in case.figures:
        a, b = bochs[name], simulated[name]
        rows.append({"scenario": case.scenario, "row": f"{case.name}, {name}" if name else case.name,
                     "unit": unit, "bochs": a, "sim": b, "difference": 100.0 * (b - a) / a})
    return rows


def show(row):
    over = "  over the limit" if abs(row["difference"]) > LIMIT else ""
    print(f"  {row['row']:48}{row['bochs']:>12,.0f}{row['sim']:>12,.0f} {row['unit']:10}"
          f"{row['difference']:>+7.1f} %{over}", flush=True)


def compare_all(names, keys):
    print(f"\n  {'':48}{'Bochs':>12}{'numen-sim':>12} {'':10}{'difference':>9}")
    found = []
    for name in names:
        for case in cases.SCENARIOS[name]:
            rows = compare(case, keys)
            for row in rows:
                show(row)
            found += rows
    return found


def main(names):
    known = [*cases.SCENARIOS, "seed3"]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"agree: {unknown[0]} is unknown; there are {', '.join(known)}", file=sys.stderr)
        return 2
    os.chdir(ROOT)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results["costs_ticks"] = measured = costs.measure()
    costs.show(measured)
    keys = costs.keys(measured)
    if "seed3" in names:
        results["seed3"] = seed3.compare(keys)
    chosen = [name for name in names or cases.SCENARIOS if name != "seed3"]
    if chosen:
        results["rows"] = compare_all(chosen, keys)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\nwritten to {RESULTS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
