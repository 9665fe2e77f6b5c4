"""Every test runs in the root of the repository; machines log under the test's own name."""
import os
import re
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import rig  # noqa: E402
from backends import Backend  # noqa: E402


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Let fixtures see whether their test failed."""
    report = (yield).get_result()
    if call.when == "call":
        item.test_failed = report.failed


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


@pytest.fixture(scope="session")
def shared_backends():
    """{(backend, module of the test): Backend}; all are closed when the session ends."""
    made = {}
    yield made
    for backend in made.values():
        backend.close()


@pytest.fixture
def machine(request, shared_backends, in_root):
    """The machine of the test's `backend` parameter, with the MODULES of the test's file."""
    name = request.getfixturevalue("backend")
    key = (name, request.module.__name__)
    if key not in shared_backends:
        shared_backends[key] = Backend("-".join(key[::-1]), name, request.module.MODULES)
    yield shared_backends[key].booted()
    if getattr(request.node, "test_failed", True):
        shared_backends[key].close()
