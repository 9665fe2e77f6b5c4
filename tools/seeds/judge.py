"""What agrees: the claims of a row, written in its seed's file before it was first run.

claim= is a list of clauses by commas; all must hold, of the medians over the random seeds:

    sign              the change from a to b has the sign of the seed's
    within P          the change from a to b is at most P per cent either way
    not-worse         b is no worse than a
    exceeds ROW       b's gain over a is larger than in that row
    ratio LOW HIGH    b / a lies between the two
    falls ROW LOW HIGH   a of that row / a of this lies between the two
    near-a P, near-b P   the simulated median is within P per cent of the seed's number
"""
DEFAULT_MARGIN = 0.01


def change(a, b):
    """Per cent from a to b, as the seeds print it."""
    return 100.0 * (b - a) / a if a else 0.0


def gain(better, a, b):
    """Per cent by which b is better than a."""
    return change(a, b) if better == "higher" else -change(a, b)


def near(value, wanted, percent):
    return abs(change(wanted, value)) <= float(percent)


def clause_holds(clause, row, others):
    word, *arguments = clause.split()
    a, b = row["sim_a"], row["sim_b"]
    if word == "sign":
        return (b - a) * (row["seed_b"] - row["seed_a"]) > 0
    if word == "within":
        return abs(change(a, b)) <= float(arguments[0])
    if word == "not-worse":
        return gain(row["better"], a, b) >= 0
    if word == "exceeds":
        other = others[arguments[0]]
        return gain(row["better"], a, b) > gain(other["better"], other["sim_a"], other["sim_b"])
    if word == "ratio":
        return float(arguments[0]) * a <= b <= float(arguments[1]) * a
    if word == "falls":
        return float(arguments[1]) * a <= others[arguments[0]]["sim_a"] <= float(arguments[2]) * a
    if word in ("near-a", "near-b"):
        return near(*((a, row["seed_a"]) if word == "near-a" else (b, row["seed_b"])), arguments[0])
    raise ValueError(f"claim {clause} is unknown. {__doc__}")


def clauses(claim):
    return [clause.strip() for clause in claim.split(",") if clause.strip()]


def failed(claim, row, others):
    """The clauses that do not hold; `others` are the declared rows by id."""
    return [clause for clause in clauses(claim) if not clause_holds(clause, row, others)]


def said(clause, others):
    """A clause as one would say it; an unknown one as it stands."""
    word, *arguments = clause.split()
    names = {key: f"\u201c{row['row']}\u201d" for key, row in others.items()}
    first, *bounds = [names.get(argument, argument) for argument in arguments] or [""]
    phrases = {
        "sign": "the change has the seed's sign",
        "within": f"the change is at most {first} %",
        "not-worse": "b is no worse than a",
        "exceeds": f"b gains more than in {first}",
        "ratio": f"b is {first} to {' '.join(bounds)} times a",
        "falls": f"a in {first} is {' to '.join(bounds)} times this a",
        "near-a": f"a is within {first} % of the seed's",
        "near-b": f"b is within {first} % of the seed's",
    }
    return phrases.get(word, clause)


def default_ahead(row):
    """Per cent by which Numen's default is better than the better arm; negative: it is behind."""
    arms = (row["sim_a"], row["sim_b"])
    best = max(arms) if row["better"] == "higher" else min(arms)
    return 0.0 + gain(row["better"], best, row["default"])  # no -0.0


def default_holds(row):
    return default_ahead(row) >= -100.0 * DEFAULT_MARGIN
