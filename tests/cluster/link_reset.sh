#!/bin/bash
#   link_reset.sh - a connection between routers is reset, and nothing is lost
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   As a firewall does that has forgotten a connection. Another connection goes
#   on at once: nobody is told of a host that is gone, no leader is lost.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
[ "$mode" = namespaces ] || skip_test 'resets take network namespaces'
make_hosts 3

#   reset HOST FROM: the next packet that comes from there resets its
#   connection.
reset () {
    in_host "$1" nft add rule ip cut in ip saddr "${address[$2]}" tcp flags \
        '&' '(syn|fin|rst)' '==' 0 limit rate 1/day burst 1 packets \
        reject with tcp reset
}

term_now () {
    on h1 status --json | grep -o '"term": *[0-9]*' | grep .
}

#   By whichever of the two that saw it first.
went_on () {
    cat "$where/$1/router.log" "$where/$2/router.log" |
        grep -c 'goes on by another connection'
}

went_on_more () {
    [ "$(went_on "$1" "$2")" -gt "$3" ]
}

check 'all three lead' hosts_get all_full
for host in "${hosts[@]}"; do
    start_load "steady-$host" "$host" --style steady --object "$host." \
        --objects 6 --rest "$rest_ms"
    start_load "gate-$host" "$host" --style steady --object gate. --objects 1 \
        --rest "$rest_ms"
done
check 'all are at work' await go_on 0 h1.0 h2.0 h3.0
leaders_then=$(leaders_of h1)
term=$(term_now)

for pair in 'h1 h3' 'h3 h1' 'h2 h3' 'h1 h2'; do
    read -r one other <<<"$pair"
    before=$(went_on "$one" "$other")
    check "the connection of $other to $one is reset" reset "$one" "$other"
    check '... and another one goes on' await went_on_more "$one" "$other" \
        "$before"
    check '... with all at work' await go_on "$("$history" now)" \
        h1.0 h2.0 h3.0
done
check 'the same lead' test "$(leaders_of h1)" = "$leaders_then"
check 'in the same term' test "$(term_now)" = "$term"
check 'every application got its answers' stop_loads "${!loads[@]}"
finish_test
