"""Sizes and heads: files up to 500 lines, functions up to 80, each file opens with its purpose.

A function is counted from its opening brace to its closing one; the format puts both in column 0.
"""
import re

import tree

FILE_LINES = 500
FUNCTION_LINES = 80


def function_faults(path, lines):
    faults, start = [], None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line.startswith("}") and start:
            if number - start + 1 > FUNCTION_LINES:
                faults.append(f"{path}:{start}: function of {number - start + 1} lines")
            start = None
    return faults


def check():
    faults = []
    for path in tree.files((".c", ".h", ".S")):
        lines = tree.read(path).splitlines()
        if len(lines) > FILE_LINES:
            faults.append(f"{path}: {len(lines)} lines")
        if not lines or not lines[0].startswith("/*"):
            faults.append(f"{path}: no head comment")
        if path.endswith(".c"):
            faults += function_faults(path, lines)
    return faults


def totals():
    """The size of the privileged part, for the eye: lines, and those with code on them."""
    lines = code = 0
    for path in tree.files((".c", ".h", ".S"), ("boot", "arch", "kernel", "sched", "mm")):
        text = tree.read(path)
        lines += text.count("\n")
        bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        code += sum(1 for line in bare.splitlines() if line.strip())
    return f"ring 0: {lines} lines, {code} of code"
