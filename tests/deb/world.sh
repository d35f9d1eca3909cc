# shellcheck shell=bash
#   world.sh - Debians that boot, in namespaces
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced by try.sh, which it starts anew in namespaces of its own, so that
#   the end of it ends all. After make_base the folder $base is a Debian;
#   in_base COMMAND runs there. boot HOST (h1..h9) makes a copy-on-write one
#   of it whose systemd is up, and halt HOST cuts its power; on HOST COMMAND...
#   runs there, root_of HOST is its folder. After make_bare the folder $bare is
#   one that has nothing but what each Debian has; boot_bare NAME N makes a
#   machine of it, without systemd.

mirror=${MIRROR:-http://deb.debian.org/debian}
suite=bookworm

give_up () {
    echo "1..0 # SKIP $*"
    exit 77
}
[ "$(id -u)" = 0 ] || give_up 'only root may do this'
command -v debootstrap >/dev/null || give_up 'there is no debootstrap'
if [ -z "${LK_DEB_INSIDE:-}" ]; then
    LK_DEB_INSIDE=1 exec unshare --mount --pid --fork --kill-child \
        --mount-proc bash "$0" "$@"
fi
work=$(mktemp -d /tmp/lkdeb.XXXXXX) || exit 2
mount --make-rprivate /
mount -t tmpfs -o size=90% tmpfs "$work" || exit 2
base=$work/base bare=$work/bare groups=$work/groups
mkdir -p "$base" "$bare" "$groups"

#   The control groups at FOLDER, whose last process is about to go.
drop_groups () {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
        [ -d "$1" ] || return 0
        sleep 0.2
    done
}

clean_up () {
    local dir
    for dir in "$work"/*.pid; do
        [ ! -e "$dir" ] || kill -KILL "$(cat "$dir")" 2>/dev/null
    done
    [ -z "$wires" ] || kill -KILL "$wires"
    drop_groups "$groups/lkdeb-$$"
    umount -l "$groups" "$work" 2>/dev/null
    rmdir "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

#   ------------------------------------------------------------ one Debian

#   in_root FOLDER COMMAND: as root, without a systemd that runs.
in_root () {
    cp /etc/resolv.conf "$1/etc/"
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    chroot "$1" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "$2"
    local status=$?
    umount -l "$1/dev" "$1/proc"
    return $status
}
in_base () {
    in_root "$base" "$1"
}

#   From Debian's archive, or as it was kept.
make_base () {
    local tar=$kept/base.tar
    if [ ! -e "$tar" ]; then
        echo "# from $mirror, which takes a minute"
        debootstrap --variant=minbase --include=ca-certificates "$suite" \
            "$base" "$mirror" >"$kept/debootstrap.log" 2>&1 ||
            give_up "debootstrap failed, see $kept/debootstrap.log"
        in_base 'apt-get update && apt-get install -y \
            --no-install-recommends systemd systemd-sysv dbus procps iproute2 \
            python3 python3-zmq libjansson-dev &&
            apt-get clean' >>"$kept/debootstrap.log" 2>&1 ||
            give_up "packages failed, see $kept/debootstrap.log"
        tar -C "$base" -cf "$tar.new" . && mv "$tar.new" "$tar"
    else
        tar -C "$base" -xf "$tar"
    fi
}

make_bare () {
    local tar=$kept/bare.tar
    if [ ! -e "$tar" ]; then
        debootstrap --variant=minbase "$suite" "$bare" "$mirror" \
            >"$kept/debootstrap.log" 2>&1 ||
            give_up "debootstrap failed, see $kept/debootstrap.log"
        tar -C "$bare" -cf "$tar.new" . && mv "$tar.new" "$tar"
    else
        tar -C "$bare" -xf "$tar"
    fi
}

#   ------------------------------------------------------------ hosts

root_of () {
    echo "$work/$1/root"
}

#   In a network of its own, which ends with its one process.
wires=
make_bridge () {
    [ -z "$wires" ] || return 0
    unshare --net sleep infinity &
    wires=$!
    disown
    until wire ip link add bridge0 type bridge 2>/dev/null; do
        sleep 0.1
    done
    wire ip link set bridge0 up
}

wire () {
    [ "$(readlink "/proc/$wires/ns/net")" != \
        "$(readlink /proc/self/ns/net)" ] && nsenter -t "$wires" -n "$@"
}

#   Each systemd has a control group that it takes for the root.
make_group () {
    mountpoint -q "$groups" || mount -t cgroup2 cgroup2 "$groups" || return
    mkdir -p "$groups/lkdeb-$$/$1"
}

#   The container that systemd finds when it starts. A command behind the
#   address is started instead.
#   shellcheck disable=SC2016
begin='
    root=$1 host=$2 group=$3 address=$4
    shift 4
    echo $$ >"$group/cgroup.procs"
    exec unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child \
        bash -c '\''
        root=$1
        mount --make-rprivate /
        cd "$root" || exit
        mount -t proc proc proc
        mount -t sysfs sysfs sys
        mount -t cgroup2 cgroup2 sys/fs/cgroup
        mount -t tmpfs tmpfs run
        mount -t tmpfs tmpfs tmp
        mount -t tmpfs tmpfs dev
        mkdir dev/pts dev/shm
        for device in "null 3" "zero 5" "full 7" "random 8" "urandom 9"; do
            mknod -m 666 "dev/${device% *}" c 1 "${device#* }"
        done
        mknod -m 666 dev/tty c 5 0
        ln -s pts/ptmx dev/ptmx
        ln -s /proc/self/fd dev/fd
        hostname "$2"
        ip link set lo up
        until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
        ip addr add "$3" dev eth0
        shift 3
        ip link set eth0 up
        mkdir -p old
        pivot_root . old
        umount -l /old
        mount --make-rshared /
        exec /usr/bin/env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            "${@:-/lib/systemd/systemd}"
        '\'' _ "$root" "$host" "$address" "$@"'

#   begin_machine NAME N BASE COMMAND...: one of its own, at the bridge.
begin_machine () {
    local host=$1 dir=$work/$1 number=$2 base=$3 pid
    shift 3
    make_bridge
    make_group "$host" || give_up 'no control groups for systemd'
    mkdir -p "$dir/upper" "$dir/scratch" "$dir/root"
    mount -t overlay overlay -o \
        "lowerdir=$base,upperdir=$dir/upper,workdir=$dir/scratch" "$dir/root" ||
        give_up 'no overlay file systems'
    [ -e "$dir/upper/etc/machine-id" ] || tr -d - \
        </proc/sys/kernel/random/uuid >"$dir/root/etc/machine-id"
    echo "$host" >"$dir/root/etc/hostname"
    bash -c "$begin" _ "$dir/root" "$host" "$groups/lkdeb-$$/$host" \
        "10.99.0.$number/24" "$@" >"$dir/log" 2>&1 </dev/null &
    local above=$!
    for _ in $(seq 50); do
        pid=$(ps -o pid= --ppid "$above" | tr -d ' ')
        [ -z "$pid" ] || break
        sleep 0.1
    done
    echo "$pid" >"$dir.pid"
    wire ip link add "$host" type veth peer name eth0 netns "$pid"
    wire ip link set "$host" master bridge0 up
}

boot () {
    local host=$1
    begin_machine "$host" "${host#h}" "$base"
    for _ in $(seq 100); do
        case $(on "$host" systemctl is-system-running 2>/dev/null) in
        running | degraded) return 0 ;;
        esac
        sleep 0.2
    done
    sed 's/^/# /' "$work/$host/log"
    give_up "systemd did not start on $host"
}

boot_bare () {
    begin_machine "$1" "$2" "$bare" sleep infinity
    for _ in $(seq 100); do
        ! on "$1" sh -c '[ "$(cat /proc/1/comm)" = sleep ]' 2>/dev/null ||
            return 0
        sleep 0.1
    done
    sed 's/^/# /' "$work/$1/log"
    give_up "$1 did not start"
}

#   At once, as a power cut does; boot HOST starts it again, with its disk.
halt () {
    kill -KILL "$(cat "$work/$1.pid")"
    drop_groups "$groups/lkdeb-$$/$1"
    umount "$work/$1/root"
}

#   No command takes longer than a minute, but for those of on_quietly.
on () {
    local host=$1
    shift
    ${limit-timeout 60} nsenter -t "$(cat "$work/$host.pid")" -a \
        /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive TERM=dumb \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

#   The same, behind us.
on_quietly () {
    limit='' on "$@" >/dev/null 2>&1 </dev/null &
}
