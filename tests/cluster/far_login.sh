#!/bin/bash
#   far_login.sh - log-ins of other machines, passed on to who issues
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Two hosts that are linked by keys, and services of the test that issue.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
here=$(dirname "$0")

/usr/bin/python3 -c 'import zmq' 2>/dev/null || {
    echo '1..0 # SKIP there is no pyzmq'
    exit 0
}

for host in h1 h2; do own "$host"; done
sed -i "s|^    listen = .*|&\n    listen-clients = \"tcp://$net.1:7412\"|" \
    "$work/h1/conf"
check 'the first host' says 0 "'h1' is the first host" \
    init h1 --first --cluster one
start h1
check 'locks can be had' at h1 wait-ready --timeout 90
check 'the second joins' says 0 'is to join' joins h2
start h2
linked () {
    at h1 status | grep -q '^h2 .* live '
}
check 'they are linked' await linked
open_to_all () {
    at h1 settings get >"$work/settings" &&
        printf 'clients\n    discovery = anyone\n' >>"$work/settings" &&
        at h1 settings edit "$work/settings"
}
check 'anybody may come' await open_to_all

export WORK=$work NET=$net LOCKKEEPER=$lockkeeper
CASES=$cases /usr/bin/python3 "$here/far_login.py" | tee "$work/scenes"
[ "${PIPESTATUS[0]}" = 0 ] || bad=$((bad + 1))
cases=$((cases + $(grep -cE '^(not )?ok ' "$work/scenes")))
unlogged () {
    ! grep -q 'correct horse' "$work"/h?/*.log
}
check 'no password is in a log' unlogged
done_checking
