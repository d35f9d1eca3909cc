#!/bin/bash
#   far.sh - the port of applications on other machines, spoken to bare
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
here=$(dirname "$0")

/usr/bin/python3 -c 'import zmq' 2>/dev/null || {
    echo '1..0 # SKIP there is no pyzmq'
    exit 0
}

#   With a port for applications on other machines, 7412.
serves () {
    own "$1"
    sed -i "s|^    listen = .*|&\n    listen-clients = \"tcp://$net.${1#h}:7412\"|" \
        "$work/$1/conf"
}
serves h1
serves h2

check 'the first host' says 0 "'h1' is the first host" \
    init h1 --first --cluster one --plain
start h1
check 'locks can be had' at h1 wait-ready --timeout 90
check 'it has made its keys' await test -s "$work/h1/state/clients-keys"
check 'for itself alone' \
    test "$(stat -c %a "$work/h1/state/clients-keys")" = 600
check 'the second joins' says 0 "'h2' is to join" init h2 --join "$net.1"
start h2
members () {
    [ "$(at h1 cluster members | grep -cE '^h[12] .*(leader|member)')" = 2 ]
}
check 'and is a member' await members

export WORK=$work NET=$net LOCKKEEPER=$lockkeeper ROUTER=${router[1]}
for script in far_scenes far_attacks; do
    CASES=$cases /usr/bin/python3 "$here/$script.py" | tee "$work/scenes"
    [ "${PIPESTATUS[0]}" = 0 ] || bad=$((bad + 1))
    cases=$((cases + $(grep -cE '^(not )?ok ' "$work/scenes")))
done

key_before=$(sed -n 's/.*public-key = "\(.*\)"/\1/p' \
    "$work/h1/state/clients-keys")
stop h1
start h1
check 'it comes back' at h1 wait-ready --timeout 90
check 'by the same key' grep -qF -- "$key_before" \
    "$work/h1/state/clients-keys"
check 'which is told' says 0 "$key_before" at h1 clients list
stop h1
chmod 644 "$work/h1/state/clients-keys"
check 'keys that others may read' says 1 \
    "others may read '$work/h1/state/clients-keys'" \
    "$BUILD/lockkeeper-router" --config "$work/h1/conf"
done_checking
