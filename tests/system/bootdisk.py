"""Bootable ISOs by grub-mkrescue, one for each different set of contents, kept in build/iso."""
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

CACHE = Path("build/iso")
GRUB_BIOS = "/usr/lib/grub/i386-pc"
# All that the menus here use: a small ISO is read faster by an emulated drive.
MODULES = "normal iso9660 multiboot multiboot2 acpi serial terminal echo test"
STALE_SECONDS = 4 * 3600


def grub_config(protocol, cmdline, modules, tables, serial, without, video):
    module_word = "module2" if protocol == "multiboot2" else "module"
    lines = ["set timeout=0"]
    if serial:
        lines += ["serial --unit=0 --speed=115200", "terminal_output serial console"]
    if video:
        lines += ["insmod all_video"]
    lines += ["menuentry numen {"]
    if tables:
        names = " ".join(f"/boot/{name}" for name in tables)
        lines += [f"  acpi {f'--exclude={without} ' if without else ''}{names}"]
    lines += [f"  {protocol} /boot/kernel.elf {cmdline}"]
    # GRUB passes on what follows the path, and a guest's line begins with its file's name.
    lines += [f"  {module_word} /boot/{Path(path).name} {Path(path).name} {arguments}"
              for path, arguments in modules]
    # The kernel's own wish is put there by multiboot2: whoever wants another says so after it.
    if video:
        lines += [f"  set gfxpayload={video}"]
    lines += ["  boot", "}"]
    return "\n".join(lines) + "\n"


def stage(folder, kernel, config, modules, tables):
    boot = folder / "boot"
    (boot / "grub").mkdir(parents=True)
    shutil.copy(kernel, boot / "kernel.elf")
    (boot / "grub" / "grub.cfg").write_text(config)
    for path, _ in modules:
        shutil.copy(path, boot / Path(path).name)
    for name, content in tables.items():
        (boot / name).write_bytes(content)


def digest(folder, extra):
    total = hashlib.sha256(extra.encode())
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        total.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return total.hexdigest()[:24]


def forget_stale():
    for path in CACHE.glob("*.iso"):
        if path.stat().st_mtime < time.time() - STALE_SECONDS:
            path.unlink(missing_ok=True)


def make_iso(kernel, cmdline="", modules=(), tables=None, protocol="multiboot2", uefi=False,
             serial=False, without="", video=None):
    """The path of an ISO that boots `kernel` with `modules` ([(path, arguments)]).

    tables: {"srat.aml": bytes}, given to the kernel as if they were the firmware's, of which those
    named by `without` ("APIC,SLIT") are left out. video: the mode that GRUB is to set,
    such as 1024x768x32 or text.
    """
    tables = tables or {}
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="numen-iso-") as temporary:
        folder = Path(temporary) / "root"
        config = grub_config(protocol, cmdline, modules, tables, serial, without, video)
        stage(folder, kernel, config, modules, tables)
        iso = CACHE / f"{digest(folder, f'uefi={uefi}')}.iso"
        if iso.exists():
            os.utime(iso)
            return iso
        forget_stale()
        made = Path(temporary) / "made.iso"
        command = ["grub-mkrescue", "-o", str(made), "--fonts=", "--themes=", "--locales=",
                   f"--install-modules={MODULES}{' all_video' if video else ''}"]
        if not uefi:
            command += ["-d", GRUB_BIOS]
        done = subprocess.run([*command, str(folder)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"grub-mkrescue failed:\n{done.stdout}")
        # Two tests may make the same one at a time: the name appears only when it is whole.
        whole = CACHE / f"{iso.name}.{os.getpid()}"
        shutil.move(made, whole)
        whole.rename(iso)
        return iso
