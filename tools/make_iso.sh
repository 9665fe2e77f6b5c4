#!/bin/sh
# make_iso.sh IMAGE GUEST... : build/numen.iso, bootable on BIOS and UEFI, from a CD or a USB stick.
set -eu

image=$1
shift
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/boot/grub"
cp boot/grub.cfg "$stage/boot/grub/"
cp "$image" "$@" "$stage/boot/"
log=$stage.log
grub-mkrescue -o build/numen.iso "$stage" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
rm -f "$log"
