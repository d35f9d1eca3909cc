#!/bin/bash
#   kill_rounds.sh - daemons die again and again, and no lock is held by two
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   kill_rounds.sh [SEED [ROUNDS [HOSTS]]]; SEED is of the random choices.
#   KILL_END=INT does not wait for what a dead host's locks hold up.

export KILL_END=${KILL_END:-TERM}
export KILL_SEED=${KILL_SEED:-${1:-$((RANDOM * 32768 + RANDOM))}}
export KILL_ROUNDS=${KILL_ROUNDS:-${2:-50}}
export KILL_HOSTS=${KILL_HOSTS:-${3:-3}}
# shellcheck source=tests/cluster/load_tap.sh
. "$(dirname "$0")/load_tap.sh"
in_sandbox "$0" --hosts "$KILL_HOSTS"

names=() hosts=()
for ((i = 1; i <= KILL_HOSTS; i++)); do
    hosts+=("h$i")
    names+=("load$i")
    start_load "load$i" "h$i" --seed $((KILL_SEED + i))
done
#   All of these may choose to hold one lock at a time, for long.
names+=(steady)
start_load steady h1 --style steady --object steady --objects 2 --rest 20
echo "# $0 $KILL_SEED $KILL_ROUNDS $KILL_HOSTS"
sleep 0.5

#   One round; prints what it does.
RANDOM=$KILL_SEED
round () {
    local host=h$((RANDOM % KILL_HOSTS + 1)) what=()
    case $((RANDOM % 3)) in
        0) what=(lockd) ;;
        1) what=(router) ;;
        2) what=(router lockd) ;;
    esac
    echo "$host ${what[*]}"
    hit "$host" 9 "${what[@]}" >/dev/null || return 1
    sleep "0.$((RANDOM % 4))"
    restart "$host" "${what[@]}" || return 1
    sleep "0.$((RANDOM % 8 + 2))"
    all_live
}

rounds () {
    local i
    for ((i = 0; i < KILL_ROUNDS; i++)); do
        round || return 1
    done
}

check "$KILL_ROUNDS rounds of kill -9 on $KILL_HOSTS hosts" rounds
check 'no daemon ended but by us' all_live
check 'all are ready in the end' hosts_get all_ready
check 'every application got its answers' end_loads "$KILL_END" "${names[@]}"
check 'no two holders, no lost lock, every request answered' judge
echo "# $(tail -n 1 "$work/out")"
granted=$(sed -n 's/.* \([0-9]*\) granted.*/\1/p' "$work/out" | tail -n 1)
check "there was load: ${granted:-0} grants" \
    test "${granted:-0}" -gt $((KILL_ROUNDS * 4))
keep_for_later
done_checking
