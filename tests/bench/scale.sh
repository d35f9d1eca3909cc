#!/bin/bash
#   scale.sh - what very many names held cost
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The cores alone, see scale.c, with 10^4 to 10^6 names. Then real processes:
#   a client on h1 holds some of them. Resident memory of each for a name
#   beyond its bytes: scale.rss.leader of a leader that does not ask,
#   scale.rss.asking of h1's lock service, which leads, too. A leader that does
#   not ask is stopped and goes on: scale.fill, what h1 sees until it leads
#   again. It ends: scale.gap, of the takeover. The client ends: scale.dead,
#   until none of its locks is left. HELD: so many names.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

name_size=17
held=${HELD:-$(many 50000 2000)}

read -ra sizes <<<"$(many '10000 100000 1000000' 10000)"
on_near "$BUILD/tests/bench/scale" "${sizes[@]}" || exit 1

#   rss HOST: bytes
rss () {
    awk '$1 == "VmRSS:" { print $2 * 1024 }' "/proc/$(pid_of "$1" lockd)/status"
}

#   each BEFORE AFTER: bytes of each name
each () {
    awk -v n="$held" -v s="$name_size" -v a="$1" -v b="$2" \
        'BEGIN { print (b - a) / n - s }'
}

#   tickets: that h1's lock service has as a leader.
tickets () {
    on h1 "$lockkeeper" status --json |
        sed -n 's/.*"tickets": *\([0-9]*\).*/\1/p' | head -n 1
}

nothing_is_left () {
    [ "$(tickets)" = 0 ]
}

sandbox_start 3
before=$(rss h2) before_asking=$(rss h1)
mkfifo "$work/orders" "$work/says"
on h1 on_near "$BUILD/tests/bench/held" \
    "ipc://$LOCKKEEPER_SANDBOX/h1/router" "$held" \
    <"$work/orders" >"$work/says" &
children=($!)
exec 7>"$work/orders" 8<"$work/says"
read -r -t 200 -u 8 _ took || die 'not all could be held'
figure scale.bus.ops "$(awk "BEGIN { print $held * 1000 / $took }")" /s
figure scale.rss.leader "$(each "$before" "$(rss h2)")" bytes
figure scale.rss.asking "$(each "$before_asking" "$(rss h1)")" bytes
echo "gap $(pid_of h3 lockd) 19 2000" >&7
read -r -t 30 -u 8 _ gap || die 'no locks after a leader was stopped'
remark "a leader is stopped: $gap ms"
leaders_are 3 && die 'a stopped leader leads'
echo "gap $(pid_of h3 lockd) 18 9000" >&7
read -r -t 30 -u 8 _ gap || die 'no locks after it went on'
within 15 leaders_are 3 || die 'it does not lead again'
figure scale.fill "$gap" ms
echo "gap $(pid_of h3 lockd) 9 1500" >&7
read -r -t 30 -u 8 _ gap || die 'no locks after the takeover'
figure scale.gap "$gap" ms
began_ms=$(date +%s%3N)
exec 7>&-
wait "${children[0]}"
children=()
within 20 nothing_is_left || die 'locks of a dead client are left'
figure scale.dead "$(($(date +%s%3N) - began_ms))" ms
