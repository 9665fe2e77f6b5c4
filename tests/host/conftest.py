"""The host programs under test, as built with the sanitizers (those in build/unit)."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / os.environ.get("NUMEN_BUILD", "build")
HANG_SECONDS = 60

sys.path.insert(0, str(HERE))
sys.path.append(str(ROOT / "tools"))

import simulator  # noqa: E402


class Topo:
    """numen-topo over inputs that are given as bytes or text and put into files."""

    def __init__(self, folder):
        self.folder = folder
        self.files = 0
        self.errors = ""

    def path(self, content):
        self.files += 1
        path = self.folder / f"input{self.files}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def run(self, *arguments, stdin=b"", stdout=subprocess.PIPE, status=0):
        """Arguments that are bytes become the paths of files that hold them."""
        words = [self.path(a) if isinstance(a, bytes) else str(a) for a in arguments]
        done = subprocess.run([BUILD / "unit/numen-topo", *words], input=stdin,
                              stdout=stdout, stderr=subprocess.PIPE, timeout=HANG_SECONDS,
                              check=False)
        self.errors = done.stderr.decode()
        expected = status if isinstance(status, tuple) else (status,)
        assert done.returncode in expected, (words, self.errors)
        return (done.stdout or b"").decode()

    def json(self, *arguments, **how):
        """Inputs by name: json(madt=bytes, cpuid=text); a list gives one twice."""
        text = self.run(*arguments, *self.words(how), "--json", stdin=how.get("stdin", b""),
                        status=how.get("status", 0))
        assert text.count("\n") == 1 and text.endswith("\n")
        return json.loads(text)

    def tree(self, *arguments, **how):
        return self.run(*arguments, *self.words(how), status=how.get("status", 0))

    def words(self, how):
        words = []
        for name, value in how.items():
            for one in value if isinstance(value, list) else [value]:
                if name == "option":
                    words += ["--option", one]
                elif name not in ("stdin", "status"):
                    words += [f"--{name}", self.path(one)]
        return words


class Sim:
    """numen-sim over scenarios that are given as text; `run` is what it said on both streams."""

    def __init__(self, folder):
        self.path = folder / "s.ini"
        self.errors = ""

    def run(self, text, *arguments, status=0, program="unit/numen-sim"):
        self.path.write_text(text)
        done = simulator.call(self.path, *arguments, program=BUILD / program, timeout=HANG_SECONDS)
        self.errors = done.stderr
        assert done.returncode == status, (arguments, self.errors)
        return done.stdout

    def json(self, text, *arguments, **how):
        return json.loads(self.run(text, "--json", *arguments, **how))

    def medians(self, text, *arguments, **how):
        """{VM: {metric: median}}; the machine's under ''."""
        return simulator.medians(self.json(text, *arguments, **how))


@pytest.fixture
def sim(tmp_path):
    return Sim(tmp_path)


@pytest.fixture
def topo(tmp_path):
    return Topo(tmp_path)
