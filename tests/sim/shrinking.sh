#!/bin/sh
#   shrinking.sh - a failing seed is made small, and its command replays it
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   BUILD=build sh tests/sim/shrinking.sh
#
#   Mistakes are planted in copies of files of the core, as canaries.sh does.
#   The command that is printed has to fail in the same way, after far fewer
#   steps, and each time with the same digest. Prints TAP.

cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build}
compiler=${CC:-cc}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/shrinking.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
number=0
failed=0

say () {    # 0 if good, what
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        failed=$((failed + 1))
        echo "not ok $number - $2"
        sed 's/^/# /' "$scratch/out"
    fi
}

plant () {    # file of the core, sed expression: makes $scratch/sim
    source=$(echo plugins/lock/core/*/"$1")
    sed -z "$2" "$source" >"$scratch/changed.c"
    objects=$(tr ' ' '\n' <"$build/tests/sim/objects" |
        sed "s|.*/${source%.c}.o\$|$scratch/changed.o|")
    cmp -s "$scratch/changed.c" "$source" && return 1
    # shellcheck disable=SC2046
    $compiler -std=gnu11 -O2 -w -Isrc -Iinclude \
        $(printf -- "-I%s " plugins/lock/core/*/) \
        -c -o "$scratch/changed.o" "$scratch/changed.c" || return 1
    # shellcheck disable=SC2086
    $compiler -o "$scratch/sim" $objects -ljansson -lm
}

#   The first words of a failure, in capitals, of "... at 12 ms: WORD ..."
kind () {
    sed 's/.* ms: //; s/[a-z0-9:].*//'
}

shrink () {    # first seed: $first, $failing, $small, $command, $steps
    "$scratch/sim" --seed "$1" --runs 2000 >"$scratch/out" 2>&1
    first=$(grep -m 1 '^seed ' "$scratch/out" | kind)
    failing=$(sed -n 's/^seed \([0-9]*\): .*/\1/p' "$scratch/out" | head -n 1)
    small=$(grep -m 1 '^    at [0-9]* ms: ' "$scratch/out" | kind)
    command=$(sed -n 's/^  shrunk replay: //p' "$scratch/out")
    steps=$(sed -n 's/.* \([0-9]*\) steps of [0-9]*,$/\1/p' "$scratch/out")
}

#   What fails at the end alone may need much until then: one of three seeds.
shrunk () {    # name, most steps, file of the core, sed expression, first seed
    plant "$3" "$4"
    say $? "$1: can be planted"
    tries=0
    seed=${5:-1}
    steps=
    while [ "$tries" -lt 3 ] && { [ -z "$steps" ] || [ "$steps" -gt "$2" ]; }; do
        shrink "$seed"
        seed=$((failing + 1))
        tries=$((tries + 1))
    done
    [ -n "$first" ] && [ "$first" = "$small" ]
    say $? "$1: fails small as it did large: $first"
    [ -n "$steps" ] && [ "$steps" -le "$2" ]
    say $? "$1: within $2 steps: $steps"
    grep -q '^  | .* FAILS: ' "$scratch/out"
    say $? "$1: its story is told to the end"
    $command --jobs 1 >"$scratch/one" 2>&1
    grep -q "^seed .*$small" "$scratch/one"
    say $? "$1: the command replays it"
    ${command% --story} --no-shrink >"$scratch/two" 2>&1
    ${command% --story} --verbose >"$scratch/three" 2>&1
    one=$(grep -o 'digest [0-9a-f]*$' "$scratch/one")
    [ -n "$one" ] && [ "$one" = "$(grep -o 'digest [0-9a-f]*$' "$scratch/two")" ] &&
        [ "$one" = "$(grep -o 'digest [0-9a-f]*$' "$scratch/three")" ]
    say $? "$1: bit for bit, told or not"
}

shrunk no-grace 2000 upkeep.c \
    's/entry->duration_ms + lk_grace_ms (lead->core, entry->duration_ms);/entry->duration_ms;/'
shrunk no-audit 6500 upkeep.c \
    's/audits < AUDITS_MAX;/audits < 0;/' 700
shrunk restart-closes 2000 closing.c \
    's/self->pending = proxy->core->incarnation - 1;/&\n    self->closed = self->pending;/'
shrunk gives-up 1500 upkeep.c \
    's/lk_out_trace (lead->core, LK_TRACE_NOTICE, "reclaim over");/&\n        LK_ASSERT (lead->core->facts.session < 2);/; s/#include "leader_private.h"/#include "util\/assert.h"\n&/' 2

echo "1..$number"
[ "$failed" -eq 0 ]
