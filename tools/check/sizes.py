"""Sizes and heads: files up to 500 lines, functions up to 80, each file opens with its purpose.

A function is counted from its opening brace to its closing one; the format puts both in column 0.
"""
import tree

FILE_LINES = 500
FUNCTION_LINES = 80
# What the whole may grow to: the design's figures with a tenth of play.
RING0_LINES = 14300
VMM_LINES = 3300


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
    faults, ring0, vmm = [], 0, 0
    for path in tree.files((".c", ".h", ".S")):
        lines = tree.read(path).splitlines()
        if len(lines) > FILE_LINES:
            faults.append(f"{path}: {len(lines)} lines")
        if not lines or not lines[0].startswith("/*"):
            faults.append(f"{path}: no head comment")
        if path.endswith(".c"):
            faults += function_faults(path, lines)
        if path.startswith("vmm/"):
            vmm += len(lines)
        elif path.split("/")[0] in tree.IMAGE_FOLDERS:
            ring0 += len(lines)
    if ring0 > RING0_LINES:
        faults.append(f"ring 0 has grown to {ring0} lines")
    if vmm > VMM_LINES:
        faults.append(f"the VMM has grown to {vmm} lines")
    return faults
