#!/bin/bash
#   gossip.sh - routers tell each other of hosts, remember and forget them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Addresses are of this test alone, as in cli_init.sh. h2 and h3 are
#   configured with h1 alone, h1 with nobody.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/cli.XXXXXX") || exit 1
net=127.$((1 + $$ / 250 % 250)).$((1 + $$ % 250))
declare -A pid=()
finish_test () {
    kill "${pid[@]}" 2>/dev/null
    rm -rf "$work"
}
trap finish_test EXIT

#   own H NAME NEIGHBOUR...: its configuration.
own () {
    local dir=$1 name=$2
    shift 2
    mkdir -p "$work/$dir"
    {
        printf 'router\n    %s = "%s"\n' host "$name" \
            remembered "$work/$dir/neighbours" \
            endpoint "ipc://$work/$dir/router" \
            listen "tcp://$net.${dir#h}:7411" |
            sed '/^router/{1!d}'
        [ $# = 0 ] || printf '    neighbour = "%s"\n' "$@"
    } >"$work/$dir/conf"
}
start () {
    "$BUILD/lockkeeper-router" --config "$work/$1/conf" \
        2>>"$work/$1/log" &
    pid[$1]=$!
}
#   stop H SIGNAL
stop () {
    kill "-$2" "${pid[$1]}" && wait "${pid[$1]}" 2>/dev/null
    unset "pid[$1]"
    true
}
at () {
    local host=$1
    shift
    LOCKKEEPER_ENDPOINT=ipc://$work/$host/router timeout 90 "$lockkeeper" "$@"
}
#   links H: "name state origin", sorted, in one line.
links () {
    at "$1" status --json | python3 -c 'import json, sys
print(", ".join(sorted(" ".join((link["host"], link["state"], link["origin"]))
                       for link in json.load(sys.stdin)["router"]["links"])))'
}
#   are H LINKS; has H LINK
are () {
    [ "$(links "$1")" = "$2" ]
}
has () {
    case $(links "$1") in *"$2"*) ;; *) return 1 ;; esac
}
own h1 h1
own h2 h2 "$net.1:7411"
own h3 h3 "$net.1:7411"

#   ------------------------------------------------------------ being told

start h1
start h2
check 'two hosts are linked' await are h2 'h1 live configuration'
start h3
check 'the third finds the second' await has h3 'h2 live'
check 'or is found by it' test -z "$(links h3 |
    sed 's/h1 live configuration, h2 live \(told by h1\|it dialled us\)//')"
check 'and the first has both' await are h1 \
    'h2 live it dialled us, h3 live it dialled us'
check 'and the second, too' await has h2 'h3 live'
check 'who was told is kept' await grep -qx "h2 = \"$net.2:7411\"" \
    "$work/h3/neighbours"
check 'who is configured is not' \
    test "$(grep -c "$net.1" "$work/h3/neighbours")" = 0

#   ------------------------------------------------------------ a restart

stop h1 KILL
stop h3 KILL
cat >>"$work/h3/neighbours" <<end
this makes no sense
h1 = "$net.9:7411"
h3 = "$net.8:7411"
h8 = "nowhere"
end
start h3
check 'a restart without the first: the second is remembered' \
    await are h3 \
    ' closed configuration, h1 closed remembered, h2 live remembered'
check 'who is configured is not forgotten' \
    says 1 'the configuration of this host' at h3 forget "$net.1:7411"
start h1
check 'the first is back' await has h3 'h1 live configuration'
check 'what made no sense is not there' \
    test "$(links h3 | tr -cd , | wc -c)" = 2
is_clean () {
    [ "$(grep -c 'sense\|h8\|h3 =' "$work/h3/neighbours")" = 0 ]
}
check 'nor written again' await is_clean

#   ------------------------------------------------------------ forgetting

check 'who is linked is not forgotten' says 1 'stop its router first' \
    at h2 forget h3
check 'forget: no name' says 125 'needs one host' at h1 forget
check 'nobody of that name' says 1 'did not know it' at h2 forget h77
check 'which is told' says 1 "no router knows 'h77'" at h2 forget h77
stop h3 TERM
check 'gone' await has h1 'h3 closed'
check 'for h2, too' await has h2 'h3 closed'
check 'who is gone is forgotten' says 0 "forgot $net.3:7411" at h2 forget h3
check 'by all of them' \
    test "$(grep -c "^h[12] *forgot $net.3:7411" "$work/said")" = 2
stop h2 KILL
start h2
check 'links come and go' await has h2 'h1 live'
sleep 1
check 'and nobody tells of it again' \
    test "$(links h1), $(links h2)" = \
    'h2 live remembered, h1 live configuration'
check 'nor remembers it' \
    test "$(cat "$work"/h[12]/neighbours | grep -c h3)" = 0
start h3
check 'it comes back by itself' await has h2 'h3 live'

#   ------------------------------------------------------------ one name twice

own h4 h2 "$net.1:7411" "$net.2:7411" "$net.3:7411"
printf '    neighbour = "%s:7411"\n' "$net.4" >>"$work/h1/conf"
kill -HUP "${pid[h1]}"
start h4
check 'a second host of a name is refused' await \
    grep -q "refused by it: another live host is called 'h2'" "$work/h4/log"
sleep 4
for host in h1 h3 h4; do
    check "$host says so once for each who and how" \
        test "$(grep -c 'another live host' "$work/$host/log")" -le 3
done
check 'its own lines are no doubles' test -z "$(grep 'another live host' \
    "$work"/h*/log | sed 's/:20[^ ]*Z /: /' | sort | uniq -d)"
check 'status warns of it' says 1 "host h2 at $net.4:7411 is refused by" \
    at h3 status
check 'on the first of that name, too' \
    says 1 "host h2 at $net.4:7411 is refused by" at h2 status
check 'and on itself' says 1 "host h2 at $net.4:7411 is refused by" \
    at h4 status
check 'which is not said to be refused by itself' \
    await says 1 "refused by another host h2 at $net.2:7411" at h2 status
check 'with why' grep -q "another live host is called 'h2'" "$work/said"
stop h4 TERM

#   ------------------------------------------------------------ a name

#   pair ADDRESS...: those of a name, for a router that sees them.
pair () {
    printf '%s pair.example\n' "$@" >"$work/names"
}
inside=(unshare --user --map-root-user --mount sh -c
    'mount --bind "$0" /etc/hosts && exec "$@"' "$work/names")
pair "$net.9" "$net.1"
if "${inside[@]}" getent ahosts pair.example | grep -q "^$net.1 "; then
    own h5 h5 pair.example:7411
    "${inside[@]}" "$BUILD/lockkeeper-router" --config "$work/h5/conf" \
        2>>"$work/h5/log" &
    pid[h5]=$!
    check 'of two addresses of a name the one that answers is taken' \
        await has h5 'h1 live configuration'
    check 'which tells of the others' await has h5 'h3 live'
    pair "$net.9" "$net.3"
    stop h1 KILL
    check 'a name is looked up anew when its host is gone' \
        await has h5 'h3 double configuration'
    check 'and the other way to that host stays' has h5 'h3 live'
else
    echo '# skipped: a name of our own, which is not permitted here'
fi
done_checking
