#!/bin/bash
#   package.sh - configure, build, install, use and uninstall what we ship
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   From the tarball of `make dist` where the tree is a clean clone, else from
#   a copy of the tree. Ends with a program that knows only what pkg-config
#   says.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL
work=$(mktemp -d "${TMPDIR:-/tmp}/package.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/root"

#   try RULE COMMAND...: its output is shown if it fails.
try () {
    local rule=$1 output
    shift
    if output=$("$@" 2>&1); then
        verdict "$rule" ''
    else
        verdict "$rule" "$(tail -n 20 <<<"failed: $* $output")"
        done_checking
    fi
}

if [ -e .git ] && command -v git >/dev/null &&
        [ -z "$(git status --porcelain 2>&1)" ]; then
    try 'make dist' make B="$work/dist" dist
    tar -xzf "$work"/dist/lockkeeper-*.tar.gz -C "$work/tree" \
        --strip-components=1
else
    tar -cf - --exclude=./build --exclude='./build-*' --exclude=./.git \
        --exclude=./config.mk . | tar -xf - -C "$work/tree"
fi
cd "$work/tree" || exit 2

if command -v autoreconf >/dev/null; then
    try 'autoreconf -i' autoreconf -i
    try './configure' ./configure --prefix=/opt/lockkeeper --quiet
    try 'configure writes config.mk and nothing else' \
        sh -c 'test -f config.mk && ! test -e Makefile.in && ! test -e build'
else
    skip './configure' 'no autoconf'
    echo 'PREFIX = /opt/lockkeeper' >config.mk
fi
try 'make' make -j2 --no-print-directory DEV=1 CFLAGS='-O0 -w' all
try 'make install' make DEV=1 CFLAGS='-O0 -w' DESTDIR="$work/root" install

export PKG_CONFIG_PATH=$work/root/opt/lockkeeper/lib/pkgconfig
export PKG_CONFIG_SYSROOT_DIR=$work/root
mkdir "$work/app"
cat >"$work/app/app.c" <<'END'
#include <lockkeeper/lockkeeper.h>
#include <lockkeeper/service.h>
#include <stdio.h>
int main (void) {
    return puts (lk_version ()) < 0 || LK_LOST == LK_OK;
}
END
# shellcheck disable=SC2016
try 'a program is built with what pkg-config says' sh -c '
    cd "$1" && "$2" -o app app.c $(pkg-config --cflags --libs lockkeeper)' \
    _ "$work/app" "$CC"
export LD_LIBRARY_PATH=$work/root/opt/lockkeeper/lib
# shellcheck disable=SC2016
try 'it runs with the shared library, of the same version' sh -c '
    test "$("$1/app")" = "$(pkg-config --modversion lockkeeper)"' \
    _ "$work/app"
try 'installed programs run' sh -c '
    for p in "$1"/opt/lockkeeper/bin/*; do "$p" --version || exit 1; done' \
    _ "$work/root"

#   It gives each thread the priority that it has, and ends where it may not.
verdict 'the units let libzmq do that' "$(
    grep -L '^SystemCallFilter=sched_setscheduler$' systemd/*.service |
        sed 's/$/: no sched_setscheduler/')"

try 'make uninstall' make DESTDIR="$work/root" uninstall
verdict 'uninstall leaves no file' "$(
    cd "$work/root" && find . ! -type d)"
try 'make clean' make clean
verdict 'clean leaves no build folder' "$(find . -name 'build*' -type d)"
done_checking
