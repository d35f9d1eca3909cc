#!/bin/bash
#   library_lost.sh - an application that does not poll is told by its next call
#   that its lock was taken away
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/actor_tap.sh
. "$(dirname "$0")/actor_tap.sh"
in_sandbox "$0" --hosts 3
start_all

forced () {
    answers ok b force door 0 repair
}
released () {
    answers ok b unlock door "$(tell a key l)"
}

#   What a does with a lock that c has by now.
asks_held () {
    answers no a held l && answers "$1" a give l
}
gives () {
    answers "$1" a give l
}
changes () {
    answers "$1" a change l shared 0 && answers "$1" a give l
}

#   five HOW DEED: rounds in which b ends the lock of a, for which c waits.
five () {
    for _ in {1..5}; do
        answers ok a get l door wait=20000 && answers ok c ask l door &&
            answers ok listed waiting door && "$1" &&
            answers 'granted l ok' c event 20000 && "$2" "$1" &&
            answers none a event 0 && answers ok c give l || return
    done
}

for how in forced released; do
    check "$how: it is not held" five $how asks_held
    check "$how: to give it back says so" five $how gives
    check "$how: to change it says so" five $how changes
done

end_all
done_checking
