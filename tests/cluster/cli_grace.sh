#!/bin/bash
#   cli_grace.sh - what people see of a lock whose duration is over
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Each host tells it, whether the leader that it asks is the home or not.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/grace=86400000

told () {
    "${@:2}" >"$work/told"
    grep -qE -- "$1" "$work/told" || {
        cat "$work/told"
        return 1
    }
}
#   began NAME OPTION...: it is held by nobody who could give it back.
began () {
    local told
    told=$(on h1 lock "$1" --static "${@:2}") && read -r key _ <<<"${told#key=}"
}
left='2[34]:[0-9]+:[0-9]+'

check 'held for an hour' began long --duration 3600
check 'held for a moment' began short --duration 0.2
for host in h1 h2 h3; do
    check "$host: list: the one has its time" \
        await told "^held .* 0:5[0-9]:[0-9]+ exclusive,static .* long\$" \
        on $host list
    check "$host: list: grace, and what is left of it" \
        await told "^grace .* $left exclusive,static .* short\$" on $host list
    check "$host: show: grace" await told \
        "^  grace: its duration is over; kept from others for $left more" \
        on $host show short
    check "$host: as JSON" await told \
        '"state":"held".*"left_ms":0,"grace_ms":[0-9]+' \
        on $host list --json short
done
check 'show: nothing of it before' told 'its home is' on h1 show long
check 'show: no grace' test "$(grep -c grace "$work/told")" = 0
#   ends HOST: notes when others may have `short`, by our clock in ms.
ends () {
    local before_ms left
    before_ms=$(now_ms)
    left=$(on "$1" list --json short | grep -oE '"grace_ms":[0-9]+') || return 1
    earliest=$((before_ms + ${left#*:}))
    latest=$(($(now_ms) + ${left#*:}))
}
#   Other leaders' tables have the age of a lock alone.
others_lead () {
    [ "$(on h1 status --json | grep -oE '"term":[0-9]+')" != "$term" ] &&
        ends h1 && ends h2 && ends h3
}
no_later () {
    ends "$1" && [ "$earliest" -le $((known + 3000)) ]
}
check 'when others may have it' ends h1
known=$latest
term=$(on h1 status --json | grep -oE '"term":[0-9]+')
for _ in {1..6}; do nap 999; done
on h1 sandbox restart h2 lockd >/dev/null
check 'others lead, and know of it' await others_lead
for host in h1 h2 h3; do
    check "$host: no later than before, but for a quarter of a lease" \
        no_later $host
done
check 'nobody else gets it' code 124 on h2 run short --wait 0 -- true
check 'given back' code 0 on h1 unlock short "$key"
check 'the next one has it' code 0 on h2 run short --wait 60 -- true
done_checking
