"""Each function of sched/ says which state it reads and writes, in the comment right above it.

The words to find are "reads", "writes" or "pure"; whether what they say is true, readers judge.
Functions that the tree macros make have no body here and are exempt.
"""
import re

import tree

SAID = re.compile(r"\b(?:reads?|writes?|pure)\b", re.I)
NAME = re.compile(r"(\w+)\(")


def functions(lines):
    """(line number of the signature, signature, comment right above it or '') of each body."""
    for brace in (number for number, line in enumerate(lines) if line == "{"):
        start = brace
        while start and lines[start - 1] and not lines[start - 1].startswith(("}", "#", "/*", " *")):
            start -= 1
        top = start
        if start and lines[start - 1].startswith(("/*", " */")):
            top -= 1
            while top and not lines[top].startswith("/*"):
                top -= 1
        yield start + 1, " ".join(lines[start:brace]), " ".join(lines[top:start])


def check():
    faults = []
    for path in tree.files((".c", ".h"), ("sched",)):
        for number, signature, comment in functions(tree.read(path).splitlines()):
            if not SAID.search(comment):
                name = NAME.search(signature)
                faults.append(f"{path}:{number}: {name[1] if name else signature} does not say what "
                              "it reads and writes")
    return faults
