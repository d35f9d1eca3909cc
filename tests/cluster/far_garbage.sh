#!/bin/bash
#   far_garbage.sh - other machines that send garbage, and honest ones beside
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   All in one network namespace: a host at 10.77.2.1, and machines at other
#   addresses, since those of the loopback are never shut out.

/usr/bin/python3 -c 'import zmq' 2>/dev/null || {
    echo '1..0 # SKIP there is no pyzmq'
    exit 0
}
if [ -z "${LK_INSIDE:-}" ]; then
    inside='--user --map-root-user --net --pid --fork --kill-child --mount-proc'
    # shellcheck disable=SC2086
    unshare $inside ip link set lo up >/dev/null 2>&1 || {
        echo '1..0 # SKIP network namespaces are not permitted'
        exit 0
    }
    # shellcheck disable=SC2086
    LK_INSIDE=1 exec setpriv --pdeathsig KILL unshare $inside bash "$0"
fi
if [ -z "${LOCKKEEPER_SANDBOX:-}" ]; then
    ip link set lo up && ip address add 10.77.2.1/24 dev lo || exit 1
    for number in {2..40}; do
        ip address add "10.77.2.$number/32" dev lo || exit 1
    done
fi

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 1 --set router/listen-clients=tcp://10.77.2.1:7412
here=$(dirname "$0")
finish_test () {
    rm -rf "$work"
}
trap finish_test EXIT

#   pairs NAME...: a file each, and a line of the settings.
pairs () {
    local name
    echo clients
    for name in "$@"; do
        "$lockkeeper" client new "$work/$name" >"$work/$name.key" \
            2>/dev/null || return
        echo "    key = \"$name $(cat "$work/$name.key")\""
    done
}
settings () {
    { pairs honest broken lies unknown && echo '    discovery = anyone'; } \
        >"$work/settings" && "$lockkeeper" settings edit "$work/settings"
}
check 'keys of machines' settings
served () {
    "$lockkeeper" clients list >"$work/told" &&
        SERVER_KEY=$(sed -nE 's/^server +h1 +[^ ]* ([^ ]*) [0-9]+$/\1/p' \
            "$work/told") && [ -n "$SERVER_KEY" ]
}
check 'and of the host' served
export WORK=$work LOCKKEEPER=$lockkeeper SERVER_KEY
CASES=$cases /usr/bin/python3 "$here/far_garbage.py" | tee "$work/scenes"
[ "${PIPESTATUS[0]}" = 0 ] || bad=$((bad + 1))
cases=$((cases + $(grep -cE '^(not )?ok ' "$work/scenes")))

logged () {
    grep -qF "$1" "$LOCKKEEPER_SANDBOX/h1/router.log"
}
check 'it is logged of keys' logged \
    'audit: key shut out who=broken zone=default from=10.77.2.2 key='
check 'and of addresses' logged \
    'audit: address shut out who=? zone=? from=10.77.2.7 key=? seconds=10 '\
'why="handshakes that go nowhere"'
few_lines () {
    [ "$(grep -c 'audit: .* shut out ' \
        "$LOCKKEEPER_SANDBOX/h1/router.log")" -le 64 ]
}
check 'in few lines' few_lines
done_checking
