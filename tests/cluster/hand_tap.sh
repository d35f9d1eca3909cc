# shellcheck shell=bash
#   hand_tap.sh - hosts of their own, for tests of what is typed on them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced. Each host has namespaces, with /etc, /run, /var/lib and
#   /usr/local/bin of its own, a name, and the address 10.0.0.N, at a bridge.
#   Where that is not permitted (it takes root, and a second user), nothing is
#   tried.

inside='--mount --net --uts --pid --fork --kill-child --mount-proc'

if [ -z "${HAND_INSIDE:-}" ]; then
    BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
    export BUILD
    # shellcheck disable=SC2086
    unshare $inside sh -c 'mount -t tmpfs none /run && chown 1:1 /run &&
        ip link add bridge0 type bridge && hostname h1 &&
        command -v runuser useradd &&
        setpriv true' >/dev/null 2>&1 || {
        echo 'root and namespaces are not to be had here'
        exit 77
    }
    # shellcheck disable=SC2086
    HAND_INSIDE=1 setpriv --pdeathsig KILL unshare $inside bash "$0" &
    trap 'kill -9 $! 2>/dev/null' EXIT
    trap 'exit 1' TERM INT HUP
    wait $!
    exit
fi
mount -t tmpfs none /mnt || exit 1
export TMPDIR=/mnt
# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

#   hosts N...: makes hN, with all programs.
hosts () {
    local n
    ip link add bridge0 type bridge && ip link set bridge0 up || exit 1
    for n in "$@"; do
        machine "h$n" "$n" lockkeeper lockkeeper-lockd lockkeeper-router
    done
}
#   machine NAME N PROGRAMS...: one more at that bridge, with these in its
#   /usr/local/bin.
machine () {
    local name=$1 n=$2
    shift
    mkdir "/mnt/$name"
    cp -a /etc "/mnt/$name/etc"
    rm -rf "/mnt/$name/etc/lockkeeper"
    sed -i '/^lockkeeper:/d' "/mnt/$name"/etc/{passwd,group,shadow,gshadow}
    # shellcheck disable=SC2016
    unshare --mount --uts --net sh -ec '
        name=$1
        shift
        mount --bind "/mnt/$name/etc" /etc
        mount -t tmpfs -o mode=0755 none /run
        mount -t tmpfs -o mode=0755 none /var/lib
        mount -t tmpfs -o mode=0755 none /usr/local/bin
        for program; do cp "$BUILD/$program" /usr/local/bin; done
        hostname "$name"
        touch "/mnt/$name/up"
        exec sleep 1000' sh "$name" "${@:2}" &
    pid[$name]=$!
    await test -e "/mnt/$name/up" || exit 1
    ip link add "v$n" type veth peer name eth0 netns "$!" &&
        ip link set "v$n" master bridge0 up || exit 1
    nsenter --net --target "$!" sh -ec "ip link set lo up
        ip addr add 10.0.0.$n/24 dev eth0; ip link set eth0 up" || exit 1
}
declare -A pid

#   at HOST COMMAND..., where we are: not in /, which is the machine's own.
at () {
    local host=$1
    shift
    nsenter --mount --uts --net --target "${pid[$host]}" env --unset=TMPDIR \
        --chdir="$PWD" PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}
