"""Instructions of hosted code: a program of tests/bench under valgrind's callgrind.

The program names its counts by client requests (tests/bench/bench.h); each makes callgrind write the name
and the total. What the requests themselves cost is the count `nothing`.
"""
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("NUMEN_BUILD", "build")
HANG_SECONDS = 300

COUNT = re.compile(r"^desc: Trigger: Client Request: ([^\n]+)$.*?^totals: (\d+)$", re.M | re.S)


def count_each(program, *arguments, options=()):
    """([(name, instructions)], in order and a name as often as it was counted, what was printed)."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--combine-dumps=yes", *options,
             f"--callgrind-out-file={folder}/out", BUILD / "bench" / program, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_SECONDS,
            check=False)
        out = Path(folder, "out")
        text = out.read_text() if out.exists() else ""
    if done.returncode:
        raise SystemExit(f"bench: {program} ended with {done.returncode}: {done.stdout.strip()}")
    counts = [(name, int(total)) for name, total in COUNT.findall(text)]
    overhead = dict(counts).get("nothing")
    if overhead is None:
        raise SystemExit(f"bench: callgrind counted nothing of {program}: {done.stdout.strip()}")
    return [(name, total - overhead) for name, total in counts if name != "nothing"], done.stdout


def count(program, *arguments):
    """({name: instructions}, what the program printed)."""
    counts, said = count_each(program, *arguments)
    return dict(sorted(counts)), said
