"""Every test runs in the root of the repository; machines log under the test's own name."""
import os
import re
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import rig  # noqa: E402


@pytest.fixture(autouse=True)
def in_root(monkeypatch):
    monkeypatch.chdir(rig.ROOT)


@pytest.fixture
def start(request):
    """start(Qemu(...)): a running machine, killed when the test ends."""
    started = []

    def start_machine(machine):
        name = re.sub(r"[^\w.-]+", "-", request.node.name)
        machine.log = f"{name}-{len(started)}" if started else name
        started.append(machine)
        machine.start()
        return machine

    yield start_machine
    for machine in started:
        machine.close()
