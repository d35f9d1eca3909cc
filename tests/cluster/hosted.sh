#!/bin/bash
#   hosted.sh - a router that hosts the lock service: settings, names, ends
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
CC=${CC:-gcc}
export LOCKKEEPER_ENDPOINT=ipc://$work/router
conf=$work/lockkeeper.conf
router='' lockd=''

#   settings LINES...: of the lock service, beside its folders.
settings () {
    printf '%s\n' router '    plugin = lock' lock "    state = \"$work\"" \
        "    run = \"$work\"" "$@" >"$conf"
}

#   quick HOST_LEASE_MS: a leader is missed soon.
quick () {
    settings "    host-lease = $1" '    leader-lease = 1000' \
        '    dead-after = 300'
}

#   router_with OPTIONS...: becomes it. refuses_with: it does not start.
# shellcheck disable=SC2120
router_with () {
    exec "$BUILD/lockkeeper-router" --config="$conf" --host=h1 \
        --listen='tcp://127.0.0.1:*' --endpoint="$LOCKKEEPER_ENDPOINT" "$@"
}

refuses_with () {
    timeout 90 bash -c "$(declare -p conf BUILD; declare -f router_with)
        router_with \"\$@\"" refuses "$@"
}

#   Its log grows through a pipe, so that a limit of file sizes is the state's
#   alone.
start_router () {
    (
        trap '' XFSZ
        router_with
    ) > >(exec cat >"$work/router.log") 2>&1 &
    router=$!
}

#   start_lockd STATE
start_lockd () {
    mkdir -p "$work/$1"
    "$BUILD/lockkeeper-lockd" --config="$conf" --state="$work/$1" \
        --endpoint="$LOCKKEEPER_ENDPOINT" >"$work/lockd.log" 2>&1 &
    lockd=$!
}

ready () {
    timeout 90 "$lockkeeper" status >"$work/status" 2>&1
}

#   The process that is the lock service, as its router has it.
is_lock () {
    timeout 90 "$lockkeeper" status 2>/dev/null |
        grep -Eq "(^services)? +lock $1 service"
}

nobody_is_lock () {
    ! is_lock '[0-9]*'
}

#   log_has DAEMON TEXT
log_has () {
    grep -qF -- "$2" "$work/$1.log"
}

stop_router () {
    kill "$router"
    code 0 wait "$router"
}

trap 'kill $router $lockd 2>/dev/null' EXIT

#   ------------------------------------------------------------ refusals

settings
check 'a plug-in that is not there' says 2 \
    "there is no plug-in 'nothing': no file '" refuses_with --plugin=nothing
check 'a folder without it' says 2 "no file '$work/lockkeeper-lock.so'" \
    refuses_with --plugin-dir="$work"
check 'a name that is none' says 2 "'../lock' is no value for 'router/plugin'" \
    refuses_with --plugin=../lock
check 'one name twice' says 2 'it is there twice' \
    refuses_with --plugin=lock --plugin=lock
cp "$BUILD/liblockkeeper.so" "$work/lockkeeper-library.so"
check 'an object that is no plug-in' says 2 "has no 'lockkeeper_plugin'" \
    refuses_with --plugin-dir="$work" --plugin=library
echo nonsense >"$work/lockkeeper-text.so"
check 'a file that is no object' says 2 "cannot load plug-in 'text'" \
    refuses_with --plugin-dir="$work" --plugin=text
cat >"$work/old.c" <<'SOURCE'
#include <lockkeeper/plugin.h>
const lk_plugin lockkeeper_plugin = {.version = "0.0.9"};
SOURCE
"$CC" -shared -fPIC -Iinclude -o "$work/lockkeeper-old.so" "$work/old.c"
check 'one of another version' says 2 \
    "plug-in 'old' is of version 0.0.9 and this router of" \
    refuses_with --plugin-dir="$work" --plugin=old
settings '    leader-lease = 700'
check 'settings of it that make no sense' says 2 \
    "line 6: 'lock/leader-lease' is less than" refuses_with
settings '    nonsense = 1'
check 'or that it does not know' says 2 "no setting 'lock/nonsense'" \
    refuses_with

#   ------------------------------------------------------------ alone

quick 4000
check 'a member' says 0 'is now a member' "$lockkeeper" init --cluster one \
    --members h1 --host h1 --state "$work"
start_router
check 'locks can be had' await ready
check 'the router is the lock service' is_lock "$router"
check 'a lock' says 0 mine "$lockkeeper" run a -- echo mine
check 'lines of its log begin with its name' await log_has router \
    'notice: lock: lead'

#   ------------------------------------------------------------ two of them

start_lockd other
check 'a process of that name is refused' code 1 wait "$lockd"
check 'it says by whom' await log_has lockd \
    "the router refused service 'lock': name is taken by process $router"
start_lockd .
check 'so is one with the same state' code 1 wait "$lockd"
check 'locks can be had still' says 0 mine "$lockkeeper" run a -- echo mine
check 'the router stops' stop_router

start_lockd .
check 'a process waits for a router' await log_has lockd 'no router at'
start_router
check 'a process that was first stays' await is_lock "$lockd"
check 'the router goes on without' await log_has router \
    'hosted: not started, the router goes on without it'
check 'locks can be had' await ready
kill "$lockd"
check 'the process ends' code 0 wait "$lockd"
check 'there is no lock service' nobody_is_lock
kill -HUP "$router"
check 'there is, with the configuration read again' await is_lock "$router"
check 'and locks' await ready

#   ------------------------------------------------------------ a planned end

#   hold: a command that has the lock, and says when it is told to end.
hold () {
    "$lockkeeper" run held -- bash -c '
        trap "echo told; exit 0" TERM
        echo held
        while :; do sleep 0.05; done' >"$work/holder" 2>&1 &
    await grep -qs held "$work/holder"
}

was_told () {
    await grep -q told "$work/holder" || {
        cat "$work/holder" "$work/router.log"
        return 1
    }
}

check 'somebody holds a lock' hold
check 'the router stops all the same' stop_router
check 'the holder was told before' was_told
check 'its lock service said so' await log_has router \
    'hosted: up -> down plugin=lock code=0'

#   An application that does not give back what it has keeps the lock service
#   for a quarter of a host lease; the second signal does not wait for it.
deaf () {
    mkfifo "$work/orders"
    "$BUILD/tests/cluster/actor" <"$work/orders" >"$work/holder" &
    exec {orders}>"$work/orders"
    echo 'get a held' >&"$orders"
    await grep -qs ok "$work/holder"
}

quick 12000
start_router
check 'it starts again' await ready
check 'somebody holds a lock, and is deaf' deaf
kill -INT "$router"
began=$(now_ms)
sleep 0.3
check 'the router waits for it' kill "$router"
check 'a second signal ends it' code 0 wait "$router"
echo "measured: a second signal ended it after $(($(now_ms) - began)) ms"
exec {orders}>&-

#   ------------------------------------------------------------ its own end

#   A service that cannot write its state ends, and its router goes on.
quick 4000
start_router
check 'it starts again' await ready
prlimit --pid "$router" --fsize=0:
kill -STOP "$router"
sleep 4.5
kill -CONT "$router"
check 'its session is over, the next one cannot be written, it ends' await \
    log_has router 'hosted: up -> down plugin=lock code=1'
check 'nobody is it' await nobody_is_lock
prlimit --pid "$router" --fsize=unlimited:
kill -HUP "$router"
check 'it starts when the configuration is read' await is_lock "$router"
check 'locks can be had' await ready
check 'the router stops' stop_router
done_checking
