#!/bin/bash
#   clones.sh - all tests in one fresh clone after the other
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   clones.sh [TIMES [LOOPS]]      (`make check-clones`)
#
#   Clones HEAD TIMES times (10), with ../shared beside it, and calls `make
#   check` there, beside LOOPS busy loops (0) in sessions of their own, as of
#   somebody else on this machine. Prints a line for each; of one that fails
#   also what did, and keeps clone and log. Needs what `make deps` installs.

set -u
cd "$(dirname "$0")/../.." || exit 2
times=${1:-10} loops=${2:-0}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/clones.XXXXXX") || exit 2
loop_pids=() bad=0

clean_up () {
    [ ${#loop_pids[@]} -eq 0 ] || kill "${loop_pids[@]}" 2>/dev/null
    rmdir "$work" 2>/dev/null || echo "# kept: $work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

#   Bounded, should nobody be left who ends them.
for ((i = 0; i < loops; i++)); do
    setsid timeout $((times * 7200)) sh -c 'while :; do :; done' &
    loop_pids+=($!)
done

#   make_clone FOLDER
make_clone () {
    git clone -q . "$1/main" || exit 2
    [ ! -e ../shared ] || ln -s "$(realpath ../shared)" "$1/shared"
}

for ((i = 1; i <= times; i++)); do
    clone=$work/$i log=$work/$i/log
    mkdir "$clone"
    make_clone "$clone"
    began=$SECONDS
    #   What this one was called with is not for that one.
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u TIMES -u LOOPS \
        make -C "$clone/main" --no-print-directory check NO_DEPS=1 \
        >"$log" 2>&1
    status=$?
    echo "$i of $times: $(tail -n 1 "$log"), $((SECONDS - began)) s"
    if [ $status -eq 0 ]; then
        rm -rf "$clone"
    else
        bad=$((bad + 1))
        grep -E '^FAIL|^not ok|TIMEOUT' "$log" | sed 's/^/# /'
    fi
done
echo "$times clones beside $loops loops, $bad with failures"
[ $bad -eq 0 ]
