# shellcheck shell=bash
#   contents.sh - what is in the packages, and what they do when installed
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced by try.sh, after world.sh: makes $base, and installs them there,
#   where no systemd runs. $kept has them by version.

#   packages VERSION [DIR]: builds them, and leaves them in $kept/DIR.
packages () {
    [ -n "${REUSE:-}" ] && [ -e "$kept/${2:-$1}" ] ||
        sh debian/build.sh "$1" "$kept/${2:-$1}"
}

#   At another place, of older files, by somebody with other habits.
packages_again () {
    local list=$work/list tree=$work/elsewhere/tree
    mkdir -p "$tree"
    git ls-files -co --exclude-standard >"$list" &&
        tar -cf - --ignore-failed-read -T "$list" 2>/dev/null |
        tar -C "$tree" -xf - && (
        umask 077
        find "$tree" -type f -exec touch -d 2001-01-01 {} + || exit
        cd "$tree" && TMPDIR=$work/elsewhere TZ=Asia/Tokyo LC_ALL=C \
            sh debian/build.sh "$version" "$work/again"
    )
}

same_packages () {
    local deb
    for deb in "$kept/$version"/*.deb; do
        cmp "$deb" "$work/again/${deb##*/}" || return 1
    done
}

deb_of () {
    echo "$kept/$version/$1"_*.deb
}

#   Each function that the library exports, with the version it came with.
has_symbols () {
    dpkg-deb -I "$(deb_of liblockkeeper1)" symbols >"$work/symbols" &&
        nm -D --defined-only "$work/unpacked"/usr/lib/*/liblockkeeper.so.1 |
        sed -n 's/.* T \(.*\)@@.*/\1/p' >"$work/exported" &&
        [ -s "$work/exported" ] &&
        while read -r name; do
            grep -q "^ $name@" "$work/symbols" || {
                echo "no $name"
                return 1
            }
        done <"$work/exported"
}

#   Every page of the tree is in one of them, and each program has one.
has_pages () {
    local page
    for page in man/*.[1-8]; do
        [ -e "$work/unpacked/usr/share/man/man${page##*.}/${page##*/}.gz" ] || {
            echo "no ${page##*/}"
            return 1
        }
    done
    for page in "$work"/unpacked/usr/bin/*; do
        ls "$work"/unpacked/usr/share/man/man[18]/"${page##*/}".[18].gz ||
            return 1
    done
}

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
check 'the packages are built' packages "$version"
check 'those of a next version, too' packages "$next"
[ "$bad" = 0 ] || {
    echo "1..$cases"
    exit 1
}
check 'they are built once more, by others' packages_again
check 'which gives the same, byte for byte' same_packages
if command -v lintian >/dev/null; then
    check 'lintian has no complaint' lintian --allow-root --fail-on \
        error,warning "$kept/$version"/*.changes
fi
for deb in "$kept/$version"/*.deb; do
    dpkg-deb -x "$deb" "$work/unpacked"
done
check 'the library tells its symbols to packages' has_symbols
check 'all manual pages are there' has_pages
check 'what changed is there' sh -c "
    zcat '$work/unpacked/usr/share/doc/lockkeeper/CHANGES.gz' |
        grep -F '$version'"
#   shellcheck disable=SC2016
check 'examples are compiled with what liblockkeeper-dev has' sh -c '
    set -e
    export PKG_CONFIG_SYSROOT_DIR=$1
    export PKG_CONFIG_PATH=$(echo "$1"/usr/lib/*/pkgconfig)
    for source in "$1"/usr/share/doc/liblockkeeper-dev/examples/*.c; do
        ${CC:-gcc} -o "$1/example" "$source" -I"$1/usr/include" \
            $(pkg-config --cflags --libs lockkeeper)
        ! ldd "$1/example" | grep "liblockkeeper.so.1 => $1"
        LD_LIBRARY_PATH=$(echo "$1"/usr/lib/*-linux-*) ldd "$1/example" |
            grep "liblockkeeper.so.1 => $1"
    done' _ "$work/unpacked"

make_base
cp "$kept/$version"/*.deb "$base/root/"
rm -f "$base"/root/*dbgsym*
check 'the client alone is installed' in_base '
    apt-get install -y /root/lockkeeper-client_*.deb &&
    lockkeeper --version && ! command -v lockkeeper-router'
check 'they are installed' in_base "apt-get install -y /root/*.deb |
    tee /root/said"
check 'which says how to begin' grep 'lockkeeper init' "$base/root/said"
check 'there is a user of the daemons' in_base 'id lockkeeper'
check 'its folders are there, and only its' in_base '
    [ "$(stat -c "%U:%G %a" /var/lib/lockkeeper)" = \
        "lockkeeper:lockkeeper 700" ] &&
    [ "$(stat -c "%U:%G %a" /run/lockkeeper)" = "lockkeeper:lockkeeper 755" ] &&
    [ "$(stat -c "%U:%G %a" /etc/lockkeeper /etc/lockkeeper/lock* |
        sort -u)" = "root:root 644
root:root 755" ]'
check 'so are those of the issuer, for it alone' in_base '
    [ "$(stat -c "%U:%G %a" /etc/lockkeeper/issuers \
        /etc/lockkeeper/authorities | sort -u)" = \
        "lockkeeper:lockkeeper 700" ] && [ -z "$(ls -A \
        /etc/lockkeeper/issuers /etc/lockkeeper/authorities | grep -v :)" ]'
check 'there is a group of administrators, with nobody in it' in_base '
    [ "$(getent group lockkeeper-admin | cut -d : -f 4)" = "" ] &&
    getent group lockkeeper-admin'
check 'nothing is enabled' in_base '
    ! ls /etc/systemd/system/*/lockkeeper* 2>/dev/null | grep .'
check 'the configuration is a conffile, and right' in_base '
    dpkg-query -W -f "\${Conffiles}" lockkeeper |
        grep -F /etc/lockkeeper/lockkeeper.conf &&
    [ -d /etc/lockkeeper/lockkeeper.conf.d ] && lockkeeper config verify &&
    cd / && runuser -u lockkeeper -- timeout 1 lockkeeper-router --host x \
        --endpoint ipc:///tmp/x; [ $? = 124 ]'
check 'the Python module is found' in_base 'python3 -c "
import lockkeeper, lockkeeper.aio, lockkeeper.clusterlock
assert lockkeeper.__file__.startswith (\"/usr/lib/python3\")"'
check 'which asks for what it needs' in_base '
    dpkg-query -W -f "\${Depends}" python3-lockkeeper | grep python3-zmq'
check 'bash and zsh complete the command' in_base '
    bash -c "
        . /usr/share/bash-completion/completions/lockkeeper &&
        complete -p lockkeeper" &&
    head -n 1 /usr/share/zsh/vendor-completions/_lockkeeper |
        grep "#compdef lockkeeper"'
check 'systemd has no complaint about the units' in_base '
    systemd-analyze verify --man=no /lib/systemd/system/lockkeeper-*.service'
