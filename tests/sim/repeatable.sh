#!/bin/sh
#   repeatable.sh - the same seed is the same run, bit for bit
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   BUILD=build sh tests/sim/repeatable.sh
#
#   The digest is over all steps, effects and times of all seeds. Prints TAP.

cd "$(dirname "$0")/../.." || exit 2
sim=${SIM:-${BUILD:-build}/tests/sim/sim}
number=0
failed=0

#   The last line but those of faults and time; nothing if a seed failed.
digest () {    # options
    # shellcheck disable=SC2086
    "$sim" $1 |
        sed -n 's/^seeds [0-9]*, failures 0,.* digest \([0-9a-f]\{16\}\)$/\1/p'
}

same () {    # what, options of one run, options of another
    one=$(digest "$2")
    other=$(digest "$3")
    number=$((number + 1))
    if [ -n "$one" ] && [ "$one" = "$other" ]; then
        echo "ok $number - $1"
    else
        failed=$((failed + 1))
        echo "not ok $number - $1: $one, $other"
    fi
}

range='--seed 4000 --runs 8'
same 'on one process and on three' "$range" "$range --jobs 3"
same 'twice in one process' "$range" "$range --twice"
same 'told and not' "$range" "$range --story"
same 'told with each message and not' "$range" "$range --verbose --jobs 2"
same 'scripts, on one process and on two' \
    '--script all --runs 1' '--script all --runs 1 --jobs 2'
said=$("$sim" --seed 3 --story | sed -n -E -e \
    's/.* ([0-9]+) members and ([0-9]+) others$/--members \1 --others \2/p')
same 'with what the seed says said again' '--seed 3' "--seed 3 $said"

#   Told by two at once, each line is whole: it begins with a time, or is one
#   of those that tell how a seed failed, or at the end.
number=$((number + 1))
torn=$("$sim" --seed 4000 --runs 8 --verbose --jobs 2 |
    grep -a -v -c -E '^ {0,9}[0-9]{1,10} (h[0-9]+|----) |^(seeds?|  replay:|faults:|took) ')
if [ "$torn" -eq 0 ]; then
    echo "ok $number - lines of two processes are whole"
else
    failed=$((failed + 1))
    echo "not ok $number - $torn lines of two processes are torn"
fi

echo "1..$number"
[ "$failed" -eq 0 ]
