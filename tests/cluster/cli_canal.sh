#!/bin/bash
#   cli_canal.sh - `lockkeeper acquire` and `release`, as a user types them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The steps are those of Canal Lock's README, Usage, with its answers.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3

#   step NUMBER ANSWER CODE VERB MAX-PER RESOURCES
step () {
    local title="step $1: $4 db $5 $6: $2" wanted=$3
    local got code
    got=$("$lockkeeper" "$4" db "$5" "$6" --pid $$ 2>&1)
    code=$?
    check "$title" test "$got $code" = "$2 $wanted"
}

commands=()
step 3 'acquired 1' 0 acquire 3 1
step 4 'acquired 2' 0 acquire 3 1
step 5 'acquired 3' 0 acquire 3 1
step 6 full 1 acquire 3 1
step 7 'acquired 4' 0 acquire 3 2
step 8 full 1 acquire 3 1
step 9 ok 0 release 3 1
step 10 full 1 acquire 3 1
step 11 ok 0 release 3 2
step 12 'acquired 3' 0 acquire 3 1
step 13 full 1 acquire 3 1

check 'release --json' says 0 '{"object":"db","released":true}' \
    "$lockkeeper" release db 3 1 --pid $$ --json
check 'acquire --json' says 0 '{"object":"db","acquired":true,"out":3}' \
    "$lockkeeper" acquire db 3 1 --pid $$ --json
check 'acquire --json: full' says 1 '{"object":"db","acquired":false}' \
    "$lockkeeper" acquire db 3 1 --pid $$ --json

#   units N: so many are out, of whoever.
units () {
    [ "$(on h3 list --object db | grep -c '^held')" = "$1" ]
}

check 'three units are out' units 3
check 'another host sees them' says 1 full on h2 acquire db 3 1
#   Two commands, so that the shell does not become the first.
check 'another shell may have more, if it knows of more' \
    says 0 'acquired 4' bash -c "'$lockkeeper' acquire db 2 2; exit"
check 'its units end with it' await units 3
check 'a shell has only its own' says 1 'holds no unit' \
    bash -c "'$lockkeeper' release db 3 1; exit"
check 'the newest goes first' bash -c "
    PATH=$BUILD:\$PATH
    set -- \$(lockkeeper list --object db --json | sed 's/.*\"token\":\([0-9]*\).*/\1/' |
        sort -n)
    lockkeeper release db 3 1 --pid $$ >/dev/null || exit
    lockkeeper check db \$2 && ! lockkeeper check db \$3"
check 'two are left' units 2
check 'a shell without stdin gets one, too' says 0 'acquired 1' \
    bash -c "'$lockkeeper' acquire bare 1 1 <&-; exit"

#   The agent of a shell is one, whoever comes first.
rm -f "$work/many"
for _ in 1 2 3 4 5 6 7 8; do
    "$lockkeeper" acquire many 100 1 --pid $$ >>"$work/many" &
    commands+=($!)
done
wait "${commands[@]}"
check 'eight at a time' test "$(sort -u "$work/many" | grep -c acquired)" = 8
#   By their addresses; the process that is listed is whom they hold for.
agents () {
    "$lockkeeper" list --json |
        sed -n 's/.*"owner":"[^"]*-\([0-9]*\)-[0-9]*@.*/\1/p' | sort -u
}
check 'one agent has them all' test "$(agents | wc -l)" = 1
check 'they are for this shell' test "$("$lockkeeper" list --json |
    sed -n 's/.*"pid":\([0-9]*\).*/\1/p' | sort -u)" = $$
agent=$(agents)
kill -9 "$agent"
check 'the agent is killed: all units come back' await says 0 \
    'nobody holds' on h1 list
check 'there is none to release' says 1 'holds no unit' \
    "$lockkeeper" release db 3 1 --pid $$
check 'and one can be acquired' says 0 'acquired 1' \
    "$lockkeeper" acquire db 3 1 --pid $$
check 'each came back once' says 0 'acquired 2' \
    "$lockkeeper" acquire db 2 1 --pid $$
check 'no more than that' says 1 full "$lockkeeper" acquire db 2 1 --pid $$
check 'a unit is taken away' code 0 \
    on h2 unlock db --force --reason 'maintenance'
check 'a release says so' says 122 'was lost' \
    "$lockkeeper" release db 2 1 --pid $$
check 'of each' code 122 "$lockkeeper" release db 2 1 --pid $$
check 'then there is none' code 1 "$lockkeeper" release db 2 1 --pid $$
check 'an agent closes what it has inherited' test "$(
    "$lockkeeper" acquire db 2 1 --pid $$)" = 'acquired 1'
agent=$(agents)
check 'without units it stays for a while' \
    code 0 "$lockkeeper" release db 2 1 --pid $$
check 'it is there' kill -0 "$agent"
check 'and goes' await gone "$agent"
check 'another one comes' says 0 'acquired 1' \
    "$lockkeeper" acquire db 2 1 --pid $$
done_checking
