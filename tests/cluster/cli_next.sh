#!/bin/bash
#   cli_next.sh - who has a lock, and who takes the place of a lost leader
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 5 --set lock/dead-after=300 \
    --set lock/leader-lease=700 --set lock/host-lease=2200

#   of FIELD: that list of `show --json`, in one line.
of () {
    on "${2:-h1}" show --json shop | python3 -c '
import json, sys
print(*json.load(sys.stdin).get(sys.argv[1], []))' "$1"
}
count_is () {
    [ "$(of "$1" | wc -w)" = "$2" ]
}
same_on_all () {
    local host
    for host in $hosts; do
        [ "$(of next "$host") $(of copies "$host")" \
            = "$(of next) $(of copies)" ] || return 1
    done
}
#   has PATTERN VERB...: a line of what it prints on h1 is like that.
has () {
    on h1 "${@:2}" >"$work/has"
    grep -qE -- "$1" "$work/has" || {
        cat "$work/has"
        return 1
    }
}

start_on h1 run shop -- sleep 1000
await is_listed '^held ' shop
hosts='h1 h2 h3 h4 h5'
check 'three have it' await count_is copies 3
check 'two are next' await count_is next 2
check 'all hosts say the same' await same_on_all
check 'show says both' has "^copies on $(of copies); next $(of next)\$" \
    show shop
check 'status says who is next' has "^ *next +$(of next)\$" status
check 'a home has it' has '^ *homes +.* of 1(,|$)' status

#   One that is not asked here.
leader=$(of copies | tr ' ' '\n' | grep -v h1 | head -n 1)
next=$(of next | tr ' ' '\n' | head -n 1)
leads () {
    of copies | grep -qw "$1"
}
check "a leader is killed: $leader" \
    kill -9 "$(cat "$LOCKKEEPER_SANDBOX/$leader/$(daemons lockd).pid")"
check "its place is taken by the one that was next: $next" await leads "$next"
check 'one is next now' await count_is next 1
hosts=${hosts/$leader/}
check 'all that live say so' await same_on_all

done_checking
