#!/bin/sh
#   install-deps.sh - the Debian packages that building and testing need
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   install-deps.sh demo | check | check-bare | bench | model | fuzz | deb |
#       check-deb | peers
#
#   Tests what is missing and calls apt-get for that alone; says what it
#   installs. Without root or sudo it prints the command and fails. On a
#   system without dpkg it leaves everything to you. Daemons among them
#   (check, peers) are neither started nor enabled: tests run them themselves.

set -eu

demo="gcc libc6-dev pkg-config libjansson-dev uthash-dev libczmq-dev"
demo="$demo libzmq3-dev libsmartcols-dev libsodium-dev liblmdb-dev"
demo="$demo libldap-dev"
check="$demo g++ check mandoc groff-base autoconf automake procps"
check="$check iproute2 nftables spin python3"
check="$check ruby ruby-ffi-rzmq zsh"
check="$check python3-zmq mypy pyflakes3 slapd ldap-utils openssl"
bench="$demo check procps"
model="gcc libc6-dev spin"
fuzz="$demo check clang libclang-rt-14-dev"
deb="$demo build-essential debhelper dh-python python3"
check_bare="debootstrap git"
check_deb="debootstrap lintian iproute2 procps"
peers="$demo etcd-server zookeeper redis-server postgresql-15"
peers="$peers libzookeeper-st-dev libhiredis-dev libpq-dev"

case ${1:-} in
demo) wanted=$demo ;;
check) wanted=$check ;;
check-bare) wanted=$check_bare ;;
bench) wanted=$bench ;;
model) wanted=$model ;;
fuzz) wanted=$fuzz ;;
deb) wanted=$deb ;;
check-deb) wanted="$deb $check_deb" ;;
peers) wanted=$peers ;;
*)
    echo "usage: $0 demo | check | check-bare | bench | model | fuzz | deb |" \
        "check-deb | peers" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "Not a Debian: please see that these are installed: $wanted"
    exit 0
fi

missing=
for package in $wanted; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null ||
        true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null ||
        { [ -t 0 ] && sudo -v; }; }; then
    as_root="sudo"
else
    echo "Some packages are missing, and only root may install them. Run:" >&2
    echo "    su -c 'apt-get update && $install'" >&2
    exit 1
fi

#   Debian asks this file before it starts a daemon. PostgreSQL's package would
#   make a database, too.
policy=/usr/sbin/policy-rc.d
database=/etc/postgresql-common/createcluster.conf
made=
keep_quiet () {
    if [ ! -e "$policy" ]; then
        made=$policy
        printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
        $as_root chmod 755 "$policy"
    fi
    if [ "$1" = peers ] && [ ! -e "$database" ]; then
        $as_root mkdir -p "${database%/*}"
        echo 'create_main_cluster = false' |
            $as_root tee "$database" >/dev/null
    fi
}

#   What was not here before starts with the system only if you say so.
be_as_before () {
    [ -z "$made" ] || $as_root rm -f "$made"
    if command -v systemctl >/dev/null; then
        for unit in slapd etcd redis-server postgresql; do
            case " $missing " in
            *" $unit"*) $as_root systemctl -q disable "$unit" || true ;;
            esac
        done
    fi
}

echo "Installing from Debian:$missing"
options="-q -o DPkg::Lock::Timeout=300"
# shellcheck disable=SC2086
$as_root apt-get $options update >/dev/null ||
    echo "apt-get update had problems; trying all the same" >&2
case $1 in
check | peers)
    keep_quiet "$1"
    trap be_as_before EXIT
    trap 'exit 130' INT TERM HUP
    ;;
esac
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get $options \
    install -y --no-install-recommends $missing >install-deps.log 2>&1 || {
    tail -n 20 install-deps.log >&2
    rm -f install-deps.log
    echo "Could not install them. By hand: $install" >&2
    exit 1
}
rm -f install-deps.log
