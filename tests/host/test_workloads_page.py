"""docs/workloads.md against `numen-sim --help-keys`: every workload, every key, every default."""
import re

import simulator
from conftest import ROOT

WORDS = re.compile(r"`([^`]+)`")


def keys_of_the_program():
    """{workload: {key: default}}"""
    text = simulator.call("--help-keys").stdout
    found, keys = {}, None
    for line in text.splitlines():
        if not line.startswith("  "):
            keys = found.setdefault(line[9:].split(":")[0], {}) if line.startswith("workload=") else None
        elif keys is not None:
            keys[line.split()[0]] = line[line.rindex("(") + 1:-1]
    return found


def keys_of_the_page():
    found, keys = {}, None
    for line in (ROOT / "docs/workloads.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## `"):
            keys = found.setdefault(WORDS.findall(line)[0], {})
        elif line.startswith("| `"):
            names, defaults, source = (cell.strip() for cell in line.strip("|").split("|"))
            assert source, line
            names, defaults = WORDS.findall(names), defaults.split(", ")
            assert len(names) == len(defaults), line
            keys.update(zip(names, defaults))
    return found


def test_the_page_has_every_workload_key_and_default():
    assert keys_of_the_page() == keys_of_the_program()
