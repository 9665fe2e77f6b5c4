"""Instructions of hosted code: a program of tests/bench under valgrind's callgrind.

The program names its counts by client requests (tests/bench/bench.h); each makes callgrind write a file
with the name and the total. What the requests themselves cost is the count `nothing`.
"""
import os
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("NUMEN_BUILD", "build")
HANG_SECONDS = 120

NAME = re.compile(r"^desc: Trigger: Client Request: (\w+)$", re.M)
TOTAL = re.compile(r"^totals: (\d+)$", re.M)


def count(program, *arguments):
    """({name: instructions}, what the program printed)."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
             BUILD / "bench" / program, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=HANG_SECONDS,
            check=False)
        dumps = [path.read_text() for path in Path(folder).iterdir()]
    if done.returncode:
        raise SystemExit(f"bench: {program} ended with {done.returncode}: {done.stdout.strip()}")
    counts = {name[1]: int(TOTAL.search(text)[1])
              for name, text in ((NAME.search(text), text) for text in dumps) if name}
    if "nothing" not in counts:
        raise SystemExit(f"bench: callgrind counted nothing of {program}: {done.stdout.strip()}")
    overhead = counts.pop("nothing")
    return {name: value - overhead for name, value in sorted(counts.items())}, done.stdout
