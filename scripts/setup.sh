#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the Debian packages that building and testing need. Does nothing, quickly, when all are there.
# Names are chosen to exist in Debian 12 and 13. SIMPLER_SKIP_SETUP=1 skips it (packages brought by other means).
set -eu

packages="gcc g++ clang libclang-rt-dev make binutils git pkg-config
	libcmocka-dev python3 python3-dev python3-numpy python3-pytest
	qemu-system-x86 busybox-static kmod linux-headers-6.12-$(dpkg --print-architecture)
	flex bison bc xz-utils libnl-genl-3-dev libkmod-dev
	libelf-dev libgomp1 libtbb-dev libstarpu-dev libopenblas-dev
	libdrm-dev sparse valgrind"
case $(cat /etc/debian_version 2>/dev/null) in	# msgpack-c changed its name in Debian 13
12*) packages="$packages libmsgpack-dev" ;;
*) packages="$packages libmsgpack-c-dev" ;;
esac

die() {
	echo "setup.sh: $*" >&2
	exit 1
}

missing() {
	have=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package} ' $packages 2>/dev/null || :)"
	for package in $packages; do
		case $have in
		*"i $package "*) ;;
		*) printf '%s ' "$package" ;;
		esac
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" >/dev/null
}

[ -z "${SIMPLER_SKIP_SETUP:-}" ] || exit 0
for tool in dpkg-query apt-get; do
	command -v $tool >/dev/null || die "$tool not found. This script knows Debian 12 and 13 only." \
		"Install the equivalents of these yourself and set SIMPLER_SKIP_SETUP=1:" $packages
done
todo=$(missing)
[ -n "$todo" ] || exit 0
[ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || die "run as root, or install sudo. Missing packages: $todo"
echo "Installing packages: $todo"
apt update || apt update || die "apt-get update failed twice. Check the network and /etc/apt/sources.list."
apt install -y --no-install-recommends $todo || die "apt-get could not install: $todo"
todo=$(missing)
[ -z "$todo" ] || die "still missing after installation: $todo"
