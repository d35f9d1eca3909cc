#!/bin/bash
#   walk.sh - the walk of one LOCK: which functions it enters, where, in order
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   walk.sh [TIMES]     of an application's call until it has the lock, on a
#                       host that leads nothing; `make walk` runs it
#
#   Builds a copy of all programs whose functions say when they are entered
#   (trace.c), in $BUILD-walk, and has ask.c take a free lock so many times in
#   a sandbox of four hosts, three of which lead. walk.py says what of that was
#   done for the lock, and prints it; or, with PAGE=FILE, puts it into that
#   page. FOLDER=DIR keeps what was noted.

set -u
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
build=${BUILD:-$root/build}-walk
work=${FOLDER:-$(mktemp -d "${TMPDIR:-/tmp}/walk.XXXXXX")} || exit 2
[ -n "${FOLDER:-}" ] || trap 'rm -rf "$work"' EXIT
here=$root/tests/walk
name=${NAME:-book} times=${1:-40}

mkdir -p "$build" "$work"
read -ra cc <<<"${CC:-gcc} -g -Wall -Wextra -D_GNU_SOURCE"
"${cc[@]}" -O1 -c -o "$build/trace.o" \
    "$here/trace.c" || exit 1
"${MAKE:-make}" -j2 --no-print-directory B="$build" DEV= \
    CFLAGS='-O0 -g -finstrument-functions' \
    LDFLAGS="-no-pie $build/trace.o" \
    "$build"/lockkeeper{,-router,-lockd} "$build/liblockkeeper.a" \
    >"$build/log" 2>&1 || {
    tail "$build/log"
    exit 1
}
read -ra libs < <(pkg-config --libs jansson libczmq libzmq)
"${cc[@]}" -O0 -finstrument-functions -no-pie -Iinclude \
    -o "$build/ask" "$here/ask.c" "$build/trace.o" \
    "$build/liblockkeeper.a" "${libs[@]}" -pthread || exit 1

head -c 4 /dev/zero >"$work/gate"
#   The host that leads nothing is asked; the processes are gone afterwards, so
#   what they were is noted.
inner='
    asker=$("$0/lockkeeper" status --json |
        grep -o "\"host\":\"h[1-4]\",\"role\":\"member\"" | cut -d \" -f 4)
    [ -n "$asker" ] || { echo "all hosts lead"; exit 1; }
    endpoint=LOCKKEEPER_ENDPOINT_$asker
    export LOCKKEEPER_ENDPOINT=${!endpoint}
    for host in h1 h2 h3 h4; do
        for daemon in router lockd; do
            echo "$daemon $host $(cat "$LOCKKEEPER_SANDBOX/$host/$daemon.pid")"
        done
    done >"$WALK_DIR/processes"
    "$0/ask" "$1" "$2" &
    echo "client $asker $!" >>"$WALK_DIR/processes"
    wait $!'
WALK_DIR=$work "$build/lockkeeper" sandbox --hosts 4 -- \
    bash -c "$inner" "$build" "$name" "$times" </dev/null >"$work/said" 2>&1 || {
    cat "$work/said"
    exit 1
}
python3 "$here/walk.py" "$work" "$build" "$root" ${PAGE:+"$PAGE"}
