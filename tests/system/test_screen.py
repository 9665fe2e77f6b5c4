"""The framebuffer console, by BIOS and UEFI, in pixels and in EGA text: read back character by character.

Pixels are read from QEMU's screen dump and matched with the glyphs of the very font that the image was
built with; an EGA screen's characters are read from its memory.
"""
import re
import sys
import time

import pytest
import rig
from rig import Qemu
from shape import Shape

sys.path.insert(0, str(rig.ROOT / "tools"))
import gen_font  # noqa: E402

FONT = "/usr/share/consolefonts/Lat15-Fixed16.psf.gz"
WIDTH, HEIGHT = 8, gen_font.HEIGHT
SETTLE_SECONDS = 30  # a hang detector: a picture is drawn some milliseconds after the text came
EGA, EGA_COLUMNS, EGA_ROWS = 0xb8000, 80, 25


def read_ppm(path):
    """(width, height, rows of bytes: one a pixel, 1 where it is lit)"""
    data = path.read_bytes()
    header = re.match(rb"P6\s(\d+)\s(\d+)\s255\s", data)
    width, height = int(header[1]), int(header[2])
    red = data[header.end()::3]
    return width, height, [bytes(red[y * width:(y + 1) * width]) for y in range(height)]


def characters():
    """{rows of a glyph: its character}; a glyph that several share is the first one's."""
    glyphs = gen_font.latin1(gen_font.read_psf(FONT))
    found = {}
    for number in [*range(0x20, 0x7f), *range(0xa0, 0x100), 1]:
        found.setdefault(glyphs[number], "\ufffd" if number == 1 else chr(number))
    return found


def pixels_text(machine, scale=1):
    """The rows of the screen as text; fails on a cell that is no glyph."""
    dump = machine.folder / "screen.ppm"
    machine.monitor(f"screendump {dump}")
    width, height, lines = read_ppm(dump)
    known, rows = characters(), []
    for top in range(0, height - HEIGHT * scale + 1, HEIGHT * scale):
        text = ""
        for left in range(0, width - WIDTH * scale + 1, WIDTH * scale):
            glyph = bytes(
                sum(0x80 >> x for x in range(WIDTH) if lines[top + y * scale][left + x * scale])
                for y in range(HEIGHT))
            text += known.get(glyph, "\0")
        rows.append(text.rstrip())
    return rows


def ega_text(machine):
    dump = machine.monitor(f"xp /{EGA_COLUMNS * EGA_ROWS}hx {EGA:#x}")
    cells = [int(word, 16) for line in dump.splitlines() for word in line.split(":")[1].split()]
    text = "".join(chr(cell & 0xff) for cell in cells)
    return [text[i:i + EGA_COLUMNS].rstrip() for i in range(0, len(text), EGA_COLUMNS)]


def wait_for(read, machine, wanted):
    """Read the screen until its last rows are `wanted`."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        rows = read(machine)
        while rows and not rows[-1]:
            rows.pop()
        if rows[-len(wanted):] == wanted:
            return rows
        assert time.monotonic() < deadline, "\n".join(["the screen shows", *rows])
        time.sleep(0.1)


def wrapped(text, columns):
    """Lines of the serial console as the screen breaks them."""
    rows = []
    for line in text.replace("\r", "").split("\n"):
        rows += [line[i:i + columns].rstrip() for i in range(0, max(len(line), 1), columns)]
    return rows


def check_screen(machine, read, columns, rows):
    """`help` three times over, which scrolls any screen, is shown as the serial port shows it."""
    machine.console.expect(rf"screen: {columns} columns, {rows} rows on ")
    machine.console.expect_prompt()
    for _ in range(3):
        reply = machine.console.run("help")
    wanted = ["numen> help", *wrapped(reply, columns)[:-1], "numen>"]
    assert len(wanted) > 20
    shown = wait_for(read, machine, wanted[-(rows - 1):])
    assert not any("\0" in row for row in shown)


def video_mapping(machine, address):
    """Flags of the page tables' entries for the framebuffer, as in "XGPDACTUW"."""
    text = machine.monitor("info tlb").replace("\r", "")
    return {flags for physical, flags in re.findall(r"^[0-9a-f]{16}: ([0-9a-f]{16}) (\S+)", text, re.M)
            if address <= int(physical, 16) < address + 1024 * 768 * 4}


@pytest.mark.parametrize("boot", ["bios", "ovmf"])
def test_pixels(start, boot):
    # Without the test device, so that a panic's picture stays.
    machine = start(Qemu(Shape(cores=2), boot=boot, video="1024x768x32", debug_exit=False))
    address = int(machine.console.expect(r"screen: .* on 1024x768 at 0x([0-9a-f]+)\r")[1], 16)
    machine.console.expect_prompt()
    first = wait_for(pixels_text, machine, ["numen>"])
    said = [row.split(":")[0].split(",")[0] for row in first]
    assert said.index("Numen") < said.index("screen"), "what came before the screen was there"
    # Write-combining: PWT without PCD chooses the PAT's entry 1. Never executable.
    assert {re.sub("[PDAG]", "-", flags) for flags in video_mapping(machine, address)} == {"X-----T-W"}
    machine.console.send("crash")
    machine.console.expect("PANIC on CPU 0")
    machine.console.settle()
    shown = pixels_text(machine)
    assert any(row.startswith("PANIC on CPU 0: crash: asked for on the console") for row in shown)


@pytest.mark.parametrize("video, columns, rows, read", [
    ("800x600x16", 100, 37, pixels_text),
    ("2560x1600x32", 160, 50, lambda machine: pixels_text(machine, 2)),
    ("text", 80, 25, ega_text),
])
def test_scrolling(start, video, columns, rows, read):
    machine = start(Qemu(Shape(cores=2), boot="bios", video=video))
    check_screen(machine, read, columns, rows)


def test_console_option_leaves_the_screen_alone(start):
    machine = start(Qemu(Shape(), "console=com1", boot="bios", video="text"))
    machine.console.expect_prompt()
    assert "screen" not in machine.console.run("log")
    assert not any("Numen, loaded" in row for row in ega_text(machine))
