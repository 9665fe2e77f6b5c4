#!/usr/bin/python3
"""`make bench`: what things cost in instructions; BENCH='topology alloc' picks some.

    tools/bench [exits] [boot] [topology] [alloc] [sched]    all by default; results in build/bench.json

exits and boot run the image under Bochs, whose clock counts instructions; topology, alloc and sched run
the image's pure code hosted, under valgrind's callgrind, and sched also runs numen-sim. None depends on
the machine it is run on, and two runs count the same. Each is a file here with a function bench() that
prints a table and returns what goes into build/bench.json.
"""
import json
import os
import sys

import alloc
import boot
import exits
import sched
import topology
from callgrind import ROOT

RESULTS = ROOT / "build/bench.json"
BENCHES = {"exits": exits, "boot": boot, "topology": topology, "alloc": alloc, "sched": sched}


def main(names):
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"bench: {unknown[0]} is unknown; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    os.chdir(ROOT)
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names or BENCHES:
        results[name] = BENCHES[name].bench()
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print()
    print(f"written to {RESULTS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
