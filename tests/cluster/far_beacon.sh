#!/bin/bash
#   far_beacon.sh - a machine without a router hears of a server on its network
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A host and a machine, each in a network namespace of its own, and a bridge
#   between: the loopback has no broadcasts.

if [ -z "${LK_INSIDE:-}" ]; then
    inside='--user --map-root-user --mount --net --pid --fork --kill-child'
    # shellcheck disable=SC2086
    unshare $inside --mount-proc sh -c 'mount -t tmpfs none /run &&
        mkdir /run/netns && ip netns add a && ip link add bridge0 type bridge' \
        >/dev/null 2>&1 || {
        echo '1..0 # SKIP network namespaces are not permitted'
        exit 0
    }
    # shellcheck disable=SC2086
    LK_INSIDE=1 exec setpriv --pdeathsig KILL unshare $inside --mount-proc \
        bash "$0"
fi

#   Two machines, "host" and "far".
if [ -z "${LOCKKEEPER_SANDBOX:-}" ]; then
    mount -t tmpfs none /run && mkdir /run/netns &&
        ip link add bridge0 type bridge && ip link set bridge0 up || exit 1
    for name in host far; do
        address=10.77.1.$([ $name = host ] && echo 1 || echo 2)
        ip netns add $name &&
            ip link add to-$name type veth peer name eth0 netns $name &&
            ip link set to-$name master bridge0 up &&
            nsenter --net=/run/netns/$name sh -c "ip link set lo up &&
                ip addr add $address/24 brd + dev eth0 &&
                ip link set eth0 up" || exit 1
    done
    exec nsenter --net=/run/netns/host \
        "${BUILD:-$PWD/build}/lockkeeper" sandbox --hosts 1 \
        --set router/listen-clients=tcp://10.77.1.1:7412 \
        --set router/beacon=7413 -- bash "$0"
fi

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
file=$work/client
far () {
    LOCKKEEPER_ENDPOINT='' nsenter --net=/run/netns/far \
        "$lockkeeper" --client "$file" "$@"
}
new_client () {
    "$lockkeeper" client new "$file" >"$work/key" 2>/dev/null &&
        cp "$file" "$work/pair" &&
        "$lockkeeper" clients add m1 "$(cat "$work/key")" >"$work/told" &&
        key=$(sed -n 's/^ *server = "tcp:[^ ]* \(.*\)"/\1/p' "$work/told")
}
#   file LINE...: the client file has these.
file () {
    { cat "$work/pair" && printf '    %s\n' "$@"; } >"$file"
}

check 'a client file' new_client
file "server-key = \"$key\"" 'beacon = 7413'
check 'that is a right file' says 0 'right: its key is' \
    "$lockkeeper" config verify --client "$file"
check 'a server is heard of' far run x -- true
check 'also for a look' far wait-ready --timeout 10
file "server = \"tcp://10.77.1.1:1 $key\"" 'beacon = 7413'
check 'one that is elsewhere than the file says' far run x -- true
check 'that, too, for a look' far wait-ready --timeout 10
file "server-key = \"$(cat "$work/key")\"" 'beacon = 7413'
check 'one whose key the file has not' says 124 \
    'no beacon was heard of a server whose key we have' \
    far wait-ready --timeout 1
no_network () {
    LOCKKEEPER_ENDPOINT='' ZSYS_INTERFACE=lo "$lockkeeper" --client "$file" \
        run x -- true
}
check 'a network without broadcasts' says 125 \
    'no network interface for beacons on port 7413' no_network
done_checking
