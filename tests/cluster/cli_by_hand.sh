#!/bin/bash
#   cli_by_hand.sh - the commands of lockkeeper-router(8), on four new hosts
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   SETTING UP A CLUSTER BY HAND, word for word but for the host's name.
#   Each host has namespaces, with /etc, /run, /var/lib and /usr/local/bin of
#   its own, a name, and the address of the page, at a bridge. Where that is
#   not permitted (it takes root, and a second user), nothing is tried.

page=$(cd "$(dirname "$0")/../../man" && pwd)/lockkeeper-router.8 || exit 1
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

#   block N: the Nth block of commands in the section.
block () {
    awk -v wanted="$1" '
        /^\.Sh/ { here = /SETTING UP A CLUSTER BY HAND/ }
        here && /^\.Bd/ { number++; inner = 1; next }
        /^\.Ed/ { inner = 0 }
        here && inner && number == wanted { gsub (/\\e/, "\\"); print }' "$page"
}

ip link add bridge0 type bridge && ip link set bridge0 up || exit 1
declare -A pid
for n in 1 2 3 4; do
    mkdir "/mnt/h$n"
    cp -a /etc "/mnt/h$n/etc"
    rm -rf "/mnt/h$n/etc/lockkeeper"
    sed -i '/^lockkeeper:/d' "/mnt/h$n"/etc/{passwd,group,shadow,gshadow}
    # shellcheck disable=SC2016
    unshare --mount --uts --net sh -ec '
        mount --bind "/mnt/$1/etc" /etc
        mount -t tmpfs -o mode=0755 none /run
        mount -t tmpfs -o mode=0755 none /var/lib
        mount -t tmpfs -o mode=0755 none /usr/local/bin
        cp "$BUILD/lockkeeper" "$BUILD/lockkeeper-lockd" \
            "$BUILD/lockkeeper-router" /usr/local/bin
        hostname "$1"
        touch "/mnt/$1/up"
        exec sleep 1000' sh "h$n" &
    pid[h$n]=$!
    within 5 test -e "/mnt/h$n/up" || exit 1
    ip link add "v$n" type veth peer name eth0 netns "$!" &&
        ip link set "v$n" master bridge0 up || exit 1
    nsenter --net --target "$!" sh -ec "ip link set lo up
        ip addr add 10.0.0.$n/24 dev eth0; ip link set eth0 up" || exit 1
done

#   at HOST COMMAND...
at () {
    local host=$1
    shift
    nsenter --mount --uts --net --target "${pid[$host]}" env --unset=TMPDIR \
        PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

#   follow HOST N: the commands of that block. What they start goes on.
follow () {
    local commands
    commands=$(block "$2" | sed "s#add h2#add $1#")
    [ -n "$commands" ] || return 1
    at "$1" sh -ec "$commands" >>"/mnt/$1/said" 2>&1 </dev/null ||
        ! cat "/mnt/$1/said"
}

at h1 lockkeeper-router >"$work/early" 2>&1
check 'before that the router says what is missing' grep -q \
    "there is no folder '/var/lib/lockkeeper'; make it" "$work/early"
for host in h1 h2 h3 h4; do
    check "$host: user and folders" follow $host 1
done
check 'h1: the first' follow h1 2
check 'h1: its files are the daemons'"'" test \
    "$(at h1 sh -c 'stat -c %U /var/lib/lockkeeper/*' | sort -u)" = lockkeeper
check 'h1: router and lock service' follow h1 3
check 'h1: locks can be had' at h1 lockkeeper wait-ready --timeout 20
for host in h2 h3; do
    check "$host: joins" follow $host 4
    check "$host: router and lock service" follow $host 3
    check "$host: becomes a member" follow $host 5
done
for host in h1 h2 h3; do
    check "$host: as the page says" follow $host 6
    check "$host: the command ran" grep -qx mine "/mnt/$host/said"
    check "$host: the same file" follow $host 7
done
check 'all see each other' within 10 says 0 'sees         h2 h1 h3' \
    at h2 lockkeeper status
check 'the files are right' at h3 lockkeeper config verify
#   Another host, later.
check 'h4: joins' follow h4 4
check 'h4: router and lock service' follow h4 3
check 'h4: locks can be had' at h4 lockkeeper wait-ready --timeout 20
check 'h4: as the page says' follow h4 6
check 'h4: it is no member' says 0 'one (not a member)' at h4 lockkeeper status
check 'h4: becomes a member' follow h4 5
check 'four members' within 10 says 0 '4 members, 4 seen, 3 needed' \
    at h2 lockkeeper cluster members
check 'who is not in the group may not' says 125 'join the group' \
    at h1 runuser -u nobody -- lockkeeper status
check 'who is may' at h1 sh -ec 'usermod -aG lockkeeper nobody
    runuser -u nobody -- lockkeeper run backup -- true'
done_checking
