#!/bin/bash
#   cli_tutorial_hosts.sh - lockkeeper-tutorial(7), THREE HOSTS, ANOTHER MACHINE
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

#   A router is restarted once the keys are known: people are slower than this
#   test.
keys_are_known () {
    [ "$(at h1 lockkeeper settings get router/key | wc -l)" = 3 ]
}
#   typed COMMAND: on all hosts, or on $host.
typed () {
    local it all=$host
    [ "$1" != 'systemctl restart lockkeeper-router' ] || await keys_are_known
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
does=\$1 signal=TERM
shift
case \$1 in --now) shift ;; --signal=*) signal=\${1#*=} && shift ;; esac
for unit; do
    pid=\$(cat "/run/\$unit.pid" 2>/dev/null)
    case \$does in
        stop | kill | restart)
            kill "-\$signal" "\$pid" 2>/dev/null
            while kill -0 "\$pid" 2>/dev/null; do sleep 0.02; done
            ;;
    esac
    case \$does in
        enable | start | restart)
            program=\$(sed -n 's#^ExecStart=@bindir@#/usr/local/bin#p' \\
                "$root/systemd/\$unit.service")
            runuser -u lockkeeper -- sh -c 'echo \$\$; exec "\$@"' sh \\
                \$program 2>>"/run/\$unit.log" </dev/null >"/run/\$unit.pid" &
            ;;
    esac
done
END
done
machine m1 9 lockkeeper
at m1 sh -c 'echo : >/usr/local/bin/apt-get; chmod +x /usr/local/bin/*'
cd "$work" || exit 1
try_page 'THREE HOSTS' 'WHEN SOMETHING IS WRONG'
check "more than thirty commands were tried: $cases" test "$cases" -gt 30
done_checking
