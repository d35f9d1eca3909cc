#!/bin/bash
#   cli_tutorial_hosts.sh - lockkeeper-tutorial(7), THREE HOSTS
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   On hosts where apt-get and systemctl are ours: the one does what the
#   packages do, the other starts what the units name. tests/deb has real
#   packages and systemd.

root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=tests/cluster/hand_tap.sh
. "$root/tests/cluster/hand_tap.sh"
# shellcheck source=tests/cluster/page_tap.sh
. "$root/tests/cluster/page_tap.sh"

#   each COMMAND: on all hosts, or on $host.
typed () {
    local it all=$host
    [ "$host" != each ] || all='h1 h2 h3'
    got=
    for it in $all; do
        got+=$(at "$it" timeout 90 bash -c "$1" 2>&1 </dev/null)
    done
}

hosts 1 2 3
for it in h1 h2 h3; do
    at $it useradd alice
    at $it sh -c 'cat >/usr/local/bin/apt-get; chmod +x /usr/local/bin/*' <<END
#!/bin/sh
exec >/dev/null
groupadd --system lockkeeper
useradd --system --gid lockkeeper --home-dir /var/lib/lockkeeper lockkeeper
install -d -m 0755 -o lockkeeper -g lockkeeper /run/lockkeeper
install -d -m 0700 -o lockkeeper -g lockkeeper /var/lib/lockkeeper
install -D -m 644 $root/etc/lockkeeper.conf /etc/lockkeeper/lockkeeper.conf
END
    at $it sh -c 'cat >/usr/local/bin/systemctl
        chmod +x /usr/local/bin/*' <<END
#!/bin/sh
[ "\$1 \$2" = "enable --now" ] || exit 1
shift 2
for unit; do
    program=\$(sed -n 's#^ExecStart=@bindir@#/usr/local/bin#p' \\
        "$root/systemd/\$unit.service")
    runuser -u lockkeeper -- \$program >>/run/\$unit.log 2>&1 </dev/null &
done
END
done
cd "$work" || exit 1
try_page 'THREE HOSTS' 'WHEN SOMETHING IS WRONG'
check "ten commands were tried: $cases" test "$cases" -ge 10
done_checking
