#!/bin/bash
#   operations.sh - lockkeeper-operations(7) does not lie
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Runs in a sandbox the commands behind "$ " in the page, in their order, each
#   on the host of the last comment "on HOST", and compares what comes back:
#   "..." stands for anything. Commands that only look are repeated until it is
#   so; lines about what wait-ready waits for are left out. Ahead of a restore
#   all disks are lost. systemctl is ours.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
in_sandbox "$0" --hosts 3 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=4000 \
    --set 'router/listen-clients=tcp://127.0.0.1:*'
TUTORIAL=${OPERATIONS:-$root/man/lockkeeper-operations.7}
# shellcheck source=tests/cluster/page_tap.sh
. "$root/tests/cluster/page_tap.sh"
box=$LOCKKEEPER_SANDBOX
export LOCKKEEPER_SANDBOX

mkdir "$work/bin" "$work/home"
#   restore reads the configuration of the host that it is on, and no lock
#   service has what it knew.
cat >"$work/bin/lockkeeper" <<END
#!/bin/sh
if [ "\$1" = restore ]; then
    for it in h1 h2 h3; do
        HOST=\$it systemctl kill --signal=KILL lockkeeper-lockd 2>/dev/null
        rm -f "$box/\$it"/lock.state "$box/\$it"/lock.settings
    done
    mkdir -p "$box/\$HOST/lockkeeper.conf.d"
    printf 'router\n    host = %s\n' "\$HOST" \
        >"$box/\$HOST/lockkeeper.conf.d/name.conf"
    set -- "\$@" --config "$box/\$HOST/lockkeeper.conf"
fi
exec "$lockkeeper" "\$@"
END
cat >"$work/bin/systemctl" <<END
#!/bin/bash
signal=TERM does=\$1
shift
case \$1 in --signal=*) signal=\${1#*=}; shift ;; --now) shift ;; esac
#   One that has ended, and was not waited for yet, does not run.
runs () {
    kill -0 "\$pid" 2>/dev/null &&
        ! grep -q '^[0-9]* ([^)]*) Z' "/proc/\$pid/stat" 2>/dev/null
}
for unit; do
    daemon=\${unit#lockkeeper-}
    pid=\$(cat "$box/\$HOST/\$daemon.pid")
    case \$does in
        stop | kill | restart)
            kill "-\$signal" "\$pid"
            while runs; do sleep 0.02; done
            ;;
    esac
    case \$does in
        start | restart | enable)
            runs || "$lockkeeper" sandbox restart "\$HOST" "\$daemon" ;;
    esac
done
END
chmod +x "$work/bin/lockkeeper" "$work/bin/systemctl"
cd "$work/home" || exit 1

typed () {
    got=$(HOST=$host PATH=$work/bin:$PATH \
        LOCKKEEPER_ENDPOINT=ipc://$box/$host/router \
        bash -c "$1" 2>&1 </dev/null | grep -v '^waiting: ')
}

#   looks COMMAND: it changes nothing, so that it may be repeated.
looks () {
    [[ $1 =~ ^lockkeeper\ (status|list|show|cluster\ members|settings\ get|run|\
--client\ [^\ ]*\ run|cluster\ recover$) ]]
}
answers_once () {
    typed "$1"
    # shellcheck disable=SC2053
    [[ ${got%$'\n'} == $2 ]]
}
# shellcheck disable=SC2317
answers () {
    if looks "$1"; then
        await answers_once "$1" "$2" && return 0
    else
        answers_once "$1" "$2" && return 0
    fi
    printf 'comes back:\n%s\n' "$got"
    return 1
}

await three_lead
try_page INSTALL 'SEE ALSO'
check "twenty commands were tried: $cases" test "$cases" -ge 20
done_checking
