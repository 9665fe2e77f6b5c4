#!/usr/bin/python3
"""Turn `nm` output (standard input) into the image's symbol table as assembly (standard output).

The table holds the functions only, sorted by address, for the panic trace's function+offset:

    extern const uint32_t ksyms_count;
    extern const uint64_t ksyms_addr[];      ascending
    extern const uint32_t ksyms_name_off[];  offset of each name in ksyms_names
    extern const char     ksyms_names[];     NUL-terminated strings

With empty input the table is empty, which is how the first link of the image gets one at all.
"""
import sys


def read_functions(lines):
    functions = {}
    for line in lines:
        fields = line.split()
        if len(fields) == 3 and fields[1] in "tTwW":
            address = int(fields[0], 16)
            # Of two names for one address the shorter is shown, so that the choice is stable.
            best = min(functions.get(address, fields[2]), fields[2], key=lambda n: (len(n), n))
            functions[address] = best
    return sorted(functions.items())


def emit_array(label, directive, values, align):
    print(f"    .balign {align}\n    .globl {label}\n{label}:")
    for value in values:
        print(f"    {directive} {value}")


def main():
    functions = read_functions(sys.stdin)
    offsets, position = [], 0
    for _, name in functions:
        offsets.append(position)
        position += len(name) + 1
    print('    .section .rodata.ksyms, "a"')
    emit_array("ksyms_count", ".long", [len(functions)], 4)
    emit_array("ksyms_addr", ".quad", [f"{address:#x}" for address, _ in functions], 8)
    emit_array("ksyms_name_off", ".long", offsets, 4)
    emit_array("ksyms_names", ".asciz", [f'"{name}"' for _, name in functions] or ['""'], 1)
    print('    .section .note.GNU-stack, "", @progbits')


main()
