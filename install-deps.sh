#!/bin/sh
#   install-deps.sh - the Debian packages that building and testing need
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   install-deps.sh demo | check | model | fuzz
#
#   Tests what is missing and calls apt-get for that alone; says what it
#   installs. Without root or sudo it prints the command and fails. On a
#   system without dpkg it leaves everything to you.

set -eu

demo="gcc libc6-dev pkg-config libzmq3-dev libczmq-dev libjansson-dev"
demo="$demo uthash-dev"
check="$demo g++ check mandoc groff-base autoconf automake procps"
check="$check iproute2 nftables spin"
model="gcc libc6-dev spin"
fuzz="$demo check clang libclang-rt-14-dev"

case ${1:-} in
demo) wanted=$demo ;;
check) wanted=$check ;;
model) wanted=$model ;;
fuzz) wanted=$fuzz ;;
*)
    echo "usage: $0 demo | check | model | fuzz" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian: please see that these are installed: $wanted"
    exit 0
fi

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null ||
        true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null ||
        { [ -t 0 ] && sudo -v; }; }; then
    as_root="sudo"
else
    echo "Some packages are missing, and only root may install them. Run:" >&2
    echo "    su -c 'apt-get update && $install'" >&2
    exit 1
fi

echo "Installing from Debian:$missing"
options="-q -o DPkg::Lock::Timeout=300"
# shellcheck disable=SC2086
$as_root apt-get $options update >/dev/null ||
    echo "apt-get update had problems; trying all the same" >&2
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get $options \
    install -y --no-install-recommends $missing >install-deps.log 2>&1 || {
    tail -n 20 install-deps.log >&2
    rm -f install-deps.log
    echo "Could not install them. By hand: $install" >&2
    exit 1
}
rm -f install-deps.log
