#!/bin/sh
# Install the Debian packages that building and testing need, if any is missing.
#
# One dpkg-query when all is there, and no network. With --quiet a failure is only told, since a plain
# build can go on without the emulators.
set -u

packages="gcc libc6-dev binutils clang clang-format clang-tidy libclang-rt-14-dev
    libbsd-dev libcmocka-dev libinih-dev libcjson-dev gcovr python3 python3-pytest python3-pytest-xdist python3-pexpect
    qemu-system-x86 ovmf bochs bochs-term bochsbios vgabios seabios
    grub-common grub-pc-bin grub-efi-amd64-bin xorriso mtools valgrind gnuplot-nox
    console-setup-linux"

say() {
    [ "${quiet:-}" ] && [ "$1" = ok ] && return
    shift
    echo "deps: $*" >&2
}

quiet=
[ "${1:-}" = --quiet ] && quiet=1
fail=${quiet:+0}
fail=${fail:-1}

if ! command -v dpkg-query >/dev/null; then
    say error "not a Debian system; please install the equivalents of:" $packages
    exit "$fail"
fi

missing=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $packages 2>/dev/null |
    awk -v want="$packages" '$2 == "installed" { have[$1] = 1 }
        END { n = split(want, w); for (i = 1; i <= n; i++) if (!have[w[i]]) print w[i] }')
[ -z "$missing" ] && { say ok "all packages are there"; exit 0; }

as_root=
if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || {
        say error "missing, and neither root nor sudo to install them:" $missing
        exit "$fail"
    }
fi
say error "installing" $missing
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q"
# The package lists may be absent or old on a fresh system: try with what is there, then refresh.
$apt install -y --no-install-recommends $missing ||
    { $apt update && $apt install -y --no-install-recommends $missing; } ||
    { say error "could not install" $missing; exit "$fail"; }
