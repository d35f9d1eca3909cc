#!/bin/bash
#   manager.sh - the daemons tell the service manager that started them (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The manager is a socket that notes who said what. `make check-deb` has a
#   real systemd.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
cd "$work" || exit 2
export LOCKKEEPER_ENDPOINT=ipc://$work/router
exec 2>>"$work/errors"

#   Notes "PID what" per line; those of one message follow each other.
cat >manager.py <<'END'
import os, socket, struct, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
manager.bind("manager")
with open("told", "a", buffering=1) as told:
    while True:
        text, ancillary, _, _ = manager.recvmsg(4096, 1000)
        pid = struct.unpack("3i", ancillary[0][2][:12])[0]
        for line in text.decode().splitlines():
            print(pid, line, file=told)
END
python3 manager.py &
manager=$!
router='' lockd=''
end_all () {
    for pid in $router $lockd $manager; do
        kill -KILL "$pid"
    done
    wait
}
trap 'end_all; rm -rf "$work"' EXIT
check 'there is a manager' await test -S manager

#   watched SECONDS DAEMON OPTIONS...: as systemd starts it.
watched () {
    local seconds=$1 daemon=$2
    shift 2
    NOTIFY_SOCKET=$work/manager WATCHDOG_USEC=${seconds}000000 \
        exec "$BUILD/lockkeeper-$daemon" "$@"
}

#   said PID TEXT: a line that begins so.
said () {
    grep -F "$1 $2" told
}

count () {
    grep -cFx "$1 WATCHDOG=1" told
}

#   more_than N PID: signs of life.
more_than () {
    [ "$(count "$2")" -gt "$1" ]
}

no () {
    ! "$@"
}

#   ------------------------------------------------------------ one by one

mkdir state
"$lockkeeper" init --cluster one --members h1 --host h1 --state state \
    >init 2>&1
lockd_options=(--endpoint "$LOCKKEEPER_ENDPOINT" --state state --run "$work")
watched 3 lockd "${lockd_options[@]}" &
lockd=$!
check 'a lock service says whom it waits for' await \
    said $lockd "STATUS=waits for the router at 'ipc://$work/router'"
sleep 1
check 'and is not ready' no said $lockd READY=1
router_options=(--host h1 --listen 'tcp://127.0.0.1:*'
    --endpoint "$LOCKKEEPER_ENDPOINT")
watched 3 router "${router_options[@]}" &
router=$!
check 'a router is ready' await said $router READY=1
check 'which processes can attach to' test -S router
check 'it says which hosts it sees' await \
    said $router 'STATUS=host h1 sees 1 of 1 hosts'
check 'so is the lock service then' await said $lockd READY=1
check 'it says that locks can be had, and who leads' await \
    said $lockd 'STATUS=locks can be had; cluster one, leaders h1, term '
check 'it wants longer than that, for its leases' await \
    said $lockd WATCHDOG_USEC=12000000
check 'the router does not' no said $router WATCHDOG_USEC
before=$(count $router)
check 'the router says that it lives' await more_than $((before + 2)) $router
check 'the lock service, too' await more_than 1 $lockd
kill -STOP $router
sleep 0.3
before=$(count $router)
sleep 2.5
check 'who hangs does not' test "$(count $router)" = "$before"
kill -CONT $router
check 'until it goes on' await more_than "$before" $router
kill -TERM $router
wait $router
check 'a router says that it stops' await said $router STOPPING=1
check 'the lock service says that it is gone' await \
    said $lockd 'STATUS=locks cannot be had: the router is gone'
kill -TERM $lockd
wait $lockd
check 'the lock service says that it stops' await said $lockd STOPPING=1
check 'and how long that may take' await \
    said $lockd EXTEND_TIMEOUT_USEC=12000000

#   ------------------------------------------------------------ as one process

cat >hosted.conf <<END
router
    host = h1
    listen = "tcp://127.0.0.1:*"
    endpoint = "$LOCKKEEPER_ENDPOINT"
    plugin = lock
lock
    state = "$work/state"
    run = "$work"
END
watched 3 router --config hosted.conf &
router=$!
lockd=''
check 'a router that hosts it tells of both' await said $router \
    'STATUS=host h1 sees 1 of 1 hosts; locks can be had; cluster one'
check 'and wants as long' await said $router WATCHDOG_USEC=12000000
before=$(count $router)
check 'it lives' await more_than "$before" $router
kill -TERM $router
wait $router

#   ------------------------------------------------------------ the units

if command -v systemd-analyze >/dev/null; then
    mkdir units
    for unit in "$OLDPWD"/systemd/*.service; do
        sed "s|@bindir@|$BUILD|" "$unit" >"units/${unit##*/}"
    done
    check 'systemd has no complaint about the units' sh -c '
        systemd-analyze verify --man=no units/*.service >verified 2>&1
        ! grep lockkeeper verified'
fi
done_checking
