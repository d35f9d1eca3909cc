# shellcheck shell=bash
#   tutorial_tap.sh - hosts on which lockkeeper-tutorial(7) is typed
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced, ahead of all else. apt-get and systemctl are ours: the one does
#   what the packages do, the other starts what the units name. tests/deb has
#   real packages and systemd.

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
#   An issuer takes some seconds to know its zones.
issues () {
    at h1 grep -q "issues zone=$1" /run/lockkeeper-issuer.log
}
#   typed COMMAND: on all hosts, or on $host.
typed () {
    local it all=$host
    [ "$1" != 'systemctl restart lockkeeper-router' ] || await keys_are_known
    [[ ! $1 =~ login\ .*--zone\ ([a-z]+) ]] || await issues "${BASH_REMATCH[1]}"
    [ "$host" != each ] || all='h1 h2 h3'
    got=
    for it in $all; do
        got+=$(at "$it" timeout 90 bash -c "$1" 2>&1 </dev/null)
    done
}

hosts 1 2 3
for it in h1 h2 h3; do
    at $it useradd alice
    at $it cp "$BUILD/lockkeeper-issuer" /usr/local/bin
    at $it sh -c 'cat >/usr/local/bin/apt-get; chmod +x /usr/local/bin/*' <<END
#!/bin/sh
exec >/dev/null
! getent group lockkeeper || exit 0
groupadd --system lockkeeper
groupadd --system lockkeeper-admin
useradd --system --gid lockkeeper --home-dir /var/lib/lockkeeper lockkeeper
install -d -m 0755 -o lockkeeper -g lockkeeper /run/lockkeeper
install -d -m 0700 -o lockkeeper -g lockkeeper /var/lib/lockkeeper
install -d -m 0700 -o lockkeeper -g lockkeeper /etc/lockkeeper/issuers
install -d -m 0700 -o lockkeeper -g lockkeeper /etc/lockkeeper/authorities
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
            file=$root/systemd/\$unit.service
            program=\$(sed -n 's#^ExecStart=@bindir@#/usr/local/bin#p' "\$file")
            groups=\$(sed -n 's/^SupplementaryGroups=/,/p' "\$file")
            setpriv --reuid lockkeeper --regid lockkeeper \\
                --groups "lockkeeper\$groups" \\
                sh -c 'echo \$\$; exec "\$@"' sh \\
                \$program 2>>"/run/\$unit.log" </dev/null >"/run/\$unit.pid" &
            ;;
    esac
done
END
done
