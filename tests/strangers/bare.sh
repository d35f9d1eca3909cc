#!/bin/bash
#   bare.sh - what CI does, on a Debian 12 that has nothing of ours
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   bare.sh                       (`make check-bare`)
#
#   A fresh Debian in namespaces of its own, into which HEAD is cloned, with
#   ../shared beside it, and whose first command is .ci/run. Needs root,
#   debootstrap, Debian's archive (MIRROR= another one), and a few gigabytes in
#   $TMPDIR (/var/tmp). Leaves no process, mount or file behind. pivot_root, and
#   not chroot: tests enter namespaces, which leads out of a chroot.

set -eu
cd "$(dirname "$0")/../.."
mirror=${MIRROR:-http://deb.debian.org/debian}
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo 'bare.sh: needs root and debootstrap' >&2
    exit 77
fi
if [ -z "${LK_BARE_WORK:-}" ]; then
    LK_BARE_WORK=$(mktemp -d "${TMPDIR:-/var/tmp}/bare.XXXXXX")
    export LK_BARE_WORK
    trap 'rm -rf --one-file-system "$LK_BARE_WORK"' EXIT
    unshare --mount --pid --fork --kill-child --mount-proc bash "$0" &&
        status=0 || status=$?
    exit $status
fi

root=$LK_BARE_WORK/root
mount --make-rprivate /
echo "a fresh Debian from $mirror, which takes a minute"
debootstrap --variant=minbase bookworm "$root" "$mirror" \
    >"$LK_BARE_WORK/log" 2>&1 || {
    tail -n 5 "$LK_BARE_WORK/log" >&2
    exit 1
}
mkdir -p "$root/work" "$root/old"
git clone -q . "$root/work/main"
[ ! -e ../shared ] || cp -rL ../shared "$root/work/shared"
cp /etc/resolv.conf "$root/etc/"
mount --bind "$root" "$root"
cd "$root"
mount --rbind /dev dev
mount -t sysfs sysfs sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup
mount -t proc proc proc
mount -t tmpfs tmpfs tmp
pivot_root . old
umount -l /old
exec /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
    DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /work/main/.ci/run
