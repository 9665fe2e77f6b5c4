"""The repository's files as the checks see them, and how to run a compiler over them."""
import os
import re
import shlex
import subprocess

IMAGE_FOLDERS = ("boot", "arch", "kernel", "sched", "mm", "vmm")
OWN_FOLDERS = IMAGE_FOLDERS + ("include", "tests", "tools")
PURE = re.compile(r"(boot|sched|mm|vmm)/[^/]+\.[ch]|arch/x86/(topology|guest_cpuid)\w*\.[ch]")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def files(suffixes, folders=OWN_FOLDERS):
    """Paths from the root of the repository, sorted, of files that end in one of `suffixes`."""
    found = []
    for top in folders:
        for folder, _, names in os.walk(top):
            found += [os.path.join(folder, n) for n in names if n.endswith(suffixes)]
    return sorted(found)


def read(path):
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def is_pure(path):
    """By its place, or because mk/hosted.mk builds it for the hosted tests."""
    hosted = os.environ["HOSTED_ARCH"].split()
    return PURE.fullmatch(path) is not None or f"{os.path.splitext(path)[0]}.c" in hosted


def includes(path):
    """[(is_system, name)] in the order of the file."""
    return [(mark == "<", name) for mark, name in INCLUDE.findall(read(path))]


def image_flags(compiler):
    """The image's compile flags without what only one of the compilers knows."""
    flags = shlex.split(os.environ["IMAGE_CFLAGS"])
    own = {"gcc": [], "clang": ["-Wthread-safety"]}[compiler]
    return [f for f in flags if f not in ("-MMD", "-MP", "-Wthread-safety")] + own


def run(command, stdin=None):
    """Run quietly; '' when it succeeds, else everything that it printed."""
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    if done.returncode == 0:
        return ""
    return done.stdout.strip() or f"{command[0]}: exit status {done.returncode}"
