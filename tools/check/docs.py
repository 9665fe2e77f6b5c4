"""The pages of docs/ and README.md against the tree: what they name in backticks must exist.

Checked are paths (`kernel/loop.c`, `boot/`, `sched/*.c`, or a file's name alone), functions
(`sched_pick()`, or `virt->run()` for a member of a table of functions), links, and the length of a
page. What is built (`build/...`) and blocks of code are left alone.
"""
import fnmatch
import os
import re

import tree

PAGE_LINES = 130
BUILT = ("build", ".git", "__pycache__")
SUFFIXES = (".c", ".h", ".S", ".ld", ".py", ".md", ".mk", ".cfg", ".sh")
SOURCES = (".c", ".h", ".S", ".py")

QUOTED = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
BLOCK = re.compile(r"^```.*?^```|^(?: {4}|\t).*?$", re.M | re.S)
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/?")
CALL = re.compile(r"(?:\w+->)?(\w+)\(\)")
# A definition or declaration begins in column 0, a table's member is (*name)(, a label ends in ':'.
DEFINED = re.compile(r"^(?:[A-Za-z_][\w\s*,().-]*?\b(\w+)\(|#define (\w+)\(|(\w+):|\s*def (\w+)\()"
                     r"|\(\*(\w+)\)\(", re.M)


def everything():
    """Files and folders (these with a slash at the end), by path from the root."""
    found = []
    for folder, below, names in os.walk("."):
        below[:] = [name for name in below if name not in BUILT]
        found += [os.path.normpath(os.path.join(folder, name)) for name in names]
        found += [os.path.normpath(os.path.join(folder, name)) + "/" for name in below]
    return found


def functions():
    names = set()
    for path in tree.files(SOURCES):
        for groups in DEFINED.findall(tree.read(path)):
            names.update(name for name in groups if name)
    return names


def names_a_path(token, tops):
    """Whether a quoted word means a file or folder of the repository."""
    if not PATH.fullmatch(token) or token.split("/")[0] in BUILT:
        return False
    return token.endswith(SUFFIXES) or ("/" in token and token.split("/")[0] in tops)


def path_exists(token, paths):
    """As it stands, or as the end of a longer path; `*` stands for anything."""
    wanted = (token, token + "/", "*/" + token)
    return any(fnmatch.fnmatchcase(path, pattern) for path in paths for pattern in wanted)


def page_faults(page, paths, defined):
    text = tree.read(page)
    bare = BLOCK.sub("", text)
    tops = {path.split("/")[0] for path in paths}
    faults = []
    if text.count("\n") > PAGE_LINES:
        faults.append(f"{text.count(chr(10))} lines, more than {PAGE_LINES}")
    for token in dict.fromkeys(QUOTED.findall(bare)):
        call = CALL.fullmatch(token)
        if call and call.group(1) not in defined:
            faults.append(f"there is no function `{token}`")
        if names_a_path(token, tops) and not path_exists(token, paths):
            faults.append(f"there is no file `{token}`")
    for target in LINK.findall(bare):
        if not os.path.exists(os.path.join(os.path.dirname(page), target)):
            faults.append(f"the link to {target} leads nowhere")
    return [f"{page}: {fault}" for fault in faults]


def check():
    paths, defined = everything(), functions()
    pages = tree.files((".md",), ("docs",)) + ["README.md"]
    return [fault for page in pages for fault in page_faults(page, paths, defined)]
