"""The tables of machines in the field, where the corpus lies beside the repository."""
import re
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

CORPUS = ROOT.parent / "shared/corpus"
# How many machines must agree: fewer would mean that some were not tried.
MACHINES = {"acpi": 193, "cpuid": 115}


@pytest.mark.skipif(not CORPUS.is_dir(),
                    reason=f"{sum(MACHINES.values())} machines: no ../shared/corpus here")
def test_corpus():
    done = subprocess.run([sys.executable, "-B", CORPUS / "check.py",
                           BUILD / "host/numen-topo", CORPUS],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    count = re.search(r"^(\d+) machines agree, (\d+) disagreements$", done.stdout, re.M)
    assert count, done.stdout
    assert int(count[2]) == 0 and int(count[1]) >= sum(MACHINES.values()), done.stdout
    assert done.returncode == 0
