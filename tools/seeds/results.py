"""From a seed's file to its rows: plans the runs, then judges what they gave."""
import judge
from runs import spread

ARMS = ("a", "b", "default")


def plan(seed, runs, seeds, limits):
    """Queues every run. [(case, {arm: key}, [(ablation, key)])]"""
    planned = []
    for number, case in enumerate(seed.cases()):
        def add(label, arm, ablation=None):
            name = f"seed{seed.number}-{number:02}-{case.row.id}-{label}"
            return runs.add(name, seed.scenario(case, arm, ablation, limits), seeds)

        arms = {arm: add(arm, arm) for arm in ARMS}
        ablate = case.declared and case.row.words.get("ablate") == "yes"
        planned.append((case, arms, [(ablation, add(f"without-{ablation.id}", "default", ablation))
                                     for ablation in seed.ablations if ablate]))
    return planned


def row_of(seed, case, keys, runs):
    words = case.row.words
    values = {arm: runs.values(key, words["metric"]) for arm, key in keys.items()}
    spreads = {arm: spread(v) for arm, v in values.items()}
    return {"seed": seed.number, "row": case.name, "unit": words["unit"], "better": words["better"],
            "seed_a": float(words["seed_a"]), "seed_b": float(words["seed_b"]),
            "sim_a": spreads["a"][1], "sim_b": spreads["b"][1], "default": spreads["default"][1],
            "ok": None, "default_ok": None,
            # from here on for the tables alone
            "spreads": spreads, "values": values, "claim": words.get("claim", ""),
            "group": words.get("group", ""), "tried": words.get("tried", ""),
            "declared": case.declared, "id": case.row.id, "failed": [], "claims": []}


def collect(seed, planned, runs):
    rows = []
    for case, arms, ablations in planned:
        row = row_of(seed, case, arms, runs)
        row["ablations"] = [(ablation.label, spread(runs.values(key, case.row.words["metric"]))[1])
                            for ablation, key in ablations]
        rows.append(row)
    declared = {row["id"]: row for row in rows if row["declared"]}
    for row in rows:
        if row["declared"]:
            failed = judge.failed(row["claim"], row, declared)
            row["ok"] = not failed
            row["failed"] = [judge.said(clause, declared) for clause in failed]
            row["claims"] = [judge.said(clause, declared) for clause in judge.clauses(row["claim"])]
        if seed.acceptance.get("default") != "trade":
            row["default_ok"] = judge.default_holds(row)
    return rows


def public(row):
    """What goes into seeds.json."""
    keys = ("seed", "row", "unit", "better", "seed_a", "seed_b", "sim_a", "sim_b", "default", "ok",
            "default_ok")
    return {key: row[key] for key in keys}
