#!/bin/bash
#   faults_dead.sh - holders and waiters die and give up, at one lock and many
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   faults_dead.sh [SEED]; ROUNDS=N of 6 s. A crowd of applications wants
#   one lock, others want a thousand; all are killed, leave or vanish soon
#   and come again. What they leave behind is nobody's at once.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
seed=${1:-$((RANDOM * 32768 + RANDOM))}
echo "# $0 $seed"
make_hosts 3

for number in 1 2 3 4 5 6 7 8 9; do
    start_load "hot$number" "h$((number % 3 + 1))" --seed $((seed + number)) \
        --object hot --objects 1 --life 2000
done
for number in 1 2 3; do
    start_load "cold$number" "h$number" --seed $((seed - number)) \
        --object cold --objects 999 --life 4000
done

#   grants PATTERN: how often that was granted. granted_times PATTERN N: more
#   often than that.
grants () {
    cat "$work"/*.history | grep -c " granted [0-9]* $1"
}

granted_times () {
    [ "$(grants "$1")" -gt "$2" ]
}

no_tickets () {
    [ -z "$(on h1 list --json)" ]
}

for ((number = 0; number < ${ROUNDS:-1}; number++)); do
    sleep 6
    echo "# round $number is over"
done
check 'there is load at one' await granted_times hot 100
check 'and at many' await granted_times cold 100
# shellcheck disable=SC2046
check 'the crowd had its answers' stop_loads $(names_of hot | head -n 5)
check 'the rest is killed' end_loads INT "${!loads[@]}"
check 'nobody is left in the tables' await no_tickets
echo "measured: $(grants hot) grants of the hot lock," \
    "$(grants cold) of many others"
from=$("$history" now)
start_load last h2 --style hold --object hot
check 'who comes last gets it' await happened granted hot "$from"
check 'and had its answer' stop_loads last
finish_test
