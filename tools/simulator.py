"""numen-sim for Python: the one way in which tools and tests run it."""
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / os.environ.get("NUMEN_BUILD", "build") / "host/numen-sim"


def call(scenario, *arguments, text=None, program=PROGRAM, timeout=None):
    """The process when it has ended, both streams as text; scenario "-" is `text`."""
    return subprocess.run([program, scenario, *map(str, arguments)], input=text, text=True,
                          errors="replace", capture_output=True, timeout=timeout, check=False)


def run(scenario, *arguments, settings=(), **how):
    """What --json says, with `settings` as --set; RuntimeError with its own words if it fails."""
    words = [word for setting in settings for word in ("--set", setting)]
    done = call(scenario, "--json", *words, *arguments, **how)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"{scenario}: exit status {done.returncode}")
    return json.loads(done.stdout)


def medians(result):
    """{VM: {metric: median}} of what `run` gave; the machine's under ''."""
    return {name: {metric: one["median"] for metric, one in metrics.items()}
            for name, metrics in [*result["vms"].items(), ("", result["machine"])]}
