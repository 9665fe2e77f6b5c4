#!/usr/bin/python3
"""gen_font.py FONT.psf.gz : the framebuffer console's font as assembly (standard output).

    extern const uint8_t screen_font[256 * 16];    glyph n is character n of Latin-1

A control character's place holds the glyph for U+FFFD, which is shown for whatever the font lacks.
The PC Screen Font, version 1: magic 36 04, mode, height; glyphs of `height` bytes; then for each glyph
the 16-bit characters that it shows, up to FFFF, after FFFE sequences of several.
"""
import gzip
import struct
import sys

HEIGHT = 16
MAGIC = b"\x36\x04"
MODE_512, MODE_TABLE = 1, 2
END, SEQUENCE = 0xffff, 0xfffe
REPLACEMENT = 0xfffd


def read_psf(path):
    """{character: bytes of its glyph}"""
    with gzip.open(path) as stream:
        data = stream.read()
    mode, height = data[2], data[3]
    if data[:2] != MAGIC or height != HEIGHT or not mode & MODE_TABLE:
        sys.exit(f"{path}: not a PSF1 font of {HEIGHT} rows with a table of characters")
    count = 512 if mode & MODE_512 else 256
    table = data[4 + count * height:]
    glyphs, glyph, in_sequence = {}, 0, False
    for (character,) in struct.iter_unpack("<H", table):
        if character == END:
            glyph, in_sequence = glyph + 1, False
        elif character == SEQUENCE:
            in_sequence = True
        elif not in_sequence:
            glyphs.setdefault(character, data[4 + glyph * height:4 + (glyph + 1) * height])
    return glyphs


def latin1(glyphs):
    """The 256 glyphs, in order."""
    shown = [*range(0x20, 0x7f), *range(0xa0, 0x100)]
    return [glyphs.get(n if n in shown else REPLACEMENT, glyphs[REPLACEMENT]) for n in range(256)]


def main():
    print('    .section .rodata.screen_font, "a"\n    .globl screen_font\nscreen_font:')
    for glyph in latin1(read_psf(sys.argv[1])):
        print("    .byte " + ", ".join(f"{row:#04x}" for row in glyph))
    print('    .section .note.GNU-stack, "", @progbits')


if __name__ == "__main__":
    main()
