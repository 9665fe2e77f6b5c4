"""Runs of numen-sim, as many at a time as there are CPUs. Equal scenarios run once.

Each scenario is left in a file, so that any number can be looked at again by hand:
numen-sim build/seeds/scenarios/FILE.ini --seeds N
"""
import fnmatch
import os
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import simulator

PROGRESS_SECONDS = 5


class Runs:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
        self.files, self.futures = {}, {}
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, name, text, seeds):
        """A key to ask for its results by; `name` is its file's if no other run is equal."""
        key = (text, seeds)
        if key not in self.futures:
            self.files[key] = self.folder / f"{name}.ini"
            self.files[key].write_text(text)
            self.futures[key] = self.pool.submit(self._run, self.files[key], seeds)
        return key

    def _run(self, path, seeds):
        return simulator.run(path, "--seeds", seeds, program=self.program)

    def wait(self):
        """Until all are done, telling on standard error how many are."""
        told = time.monotonic()
        for i, future in enumerate(self.futures.values()):
            future.result()
            if time.monotonic() - told > PROGRESS_SECONDS:
                told = time.monotonic()
                print(f"seeds: {i + 1} of {len(self.futures)} runs", file=sys.stderr)

    def give_up(self):
        self.pool.shutdown(cancel_futures=True)

    def values(self, key, metric):
        """One value a random seed. "vm.NAME.METRIC", NAME with * for the mean of several VMs,
        "machine.METRIC", a number, or two of these with a / or * between."""
        words = metric.split()
        if len(words) == 3:
            left, right = self.values(key, words[0]), self.values(key, words[2])
            if words[1] == "*":
                return [a * b for a, b in zip(left, right)]
            return [a / b if b else 0.0 for a, b in zip(left, right)]
        result = self.futures[key].result()
        if metric.replace(".", "", 1).isdigit():
            return [float(metric)] * result["seeds"]
        place, _, name = metric.rpartition(".")
        if place == "machine":
            return result["machine"][name]["values"]
        vms = fnmatch.filter(result["vms"], place.removeprefix("vm."))
        if not vms:
            raise KeyError(f"{self.files[key]}: there is no VM {place}")
        columns = [result["vms"][vm][name]["values"] for vm in vms]
        if any(len(column) != result["seeds"] for column in columns):
            raise RuntimeError(f"{self.files[key]}: {place} has its {name} in some random seeds only, "
                               "so the arms cannot be paired; a longer run may have it in all")
        return [statistics.fmean(row) for row in zip(*columns)]


def spread(values):
    """(lower quartile, median, upper quartile)."""
    if len(values) == 1:
        return (values[0],) * 3
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high
