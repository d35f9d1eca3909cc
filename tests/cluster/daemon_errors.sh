#!/bin/bash
#   daemon_errors.sh - what daemons say when something fails, as in the pages
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Of lockkeeper-router(8) and lockkeeper-lockd(8): errors with which they do
#   not start, and errors and warnings in their logs. Of lockkeeper.conf(5): the
#   mistakes of a file. Each item of DIAGNOSTICS is met.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --plain --hosts 2 --set lock/dead-after=300 \
    --set lock/leader-lease=700 --set lock/host-lease=2200
# shellcheck source=tests/cluster/errors_tap.sh
. "$(dirname "$0")/errors_tap.sh"
mkdir "$work/run" "$work/state" "$work/locked" "$work/bin"
touch "$work/file"
cp "$BUILD"/lockkeeper* "$work/bin/"
chmod 755 "$work" "$work/bin" "$LOCKKEEPER_SANDBOX" "$LOCKKEEPER_SANDBOX/h1"
chmod 700 "$work/locked"
router=$BUILD/lockkeeper-router
lockd=$BUILD/lockkeeper-lockd
root=
[ "$(id -u)" != 0 ] || root=yes

#   fails PAGE CODE ITEM COMMAND...
fails () {
    check "${1%.8}: $3" met "$@"
}
router () {
    local wanted=$1 item=$2
    shift 2
    fails lockkeeper-router.8 "$wanted" "$item" "$router" --host h9 \
        --listen 'tcp://127.0.0.1:*' --endpoint "ipc://$work/router" "$@"
}
lockd () {
    local wanted=$1 item=$2
    shift 2
    fails lockkeeper-lockd.8 "$wanted" "$item" "$lockd" --run "$work/run" \
        --state "$work/state" --endpoint "$LOCKKEEPER_ENDPOINT" "$@"
}
#   nobody PAGE CODE ITEM PROGRAM ARGUMENTS...: as the user of nothing.
nobody () {
    local page=$1 wanted=$2 item=$3 program=$4
    shift 4
    if [ -n "$root" ]; then
        fails "$page" "$wanted" "$item" setpriv --reuid 65534 --regid 65534 \
            --clear-groups "$work/bin/$program" "$@"
    else
        unmet "$page" "$item"
    fi
}
#   conf LINES...: a configuration; its name is in $conf.
conf () {
    conf=$work/conf
    printf '%s\n' "$@" >"$conf"
}

#   ------------------------------------------------------------ a router

router 2 "there is no option '...'" --frob
router 2 "what is '...'? See --help" frob
router 2 "option '...' needs a value" --group
router 2 "'...' is no value for '...': ..." --dead-after 1
router 2 "cannot open '...': ..." --config "$work/none"
router 2 "cannot read '...': ..." --config "$work/run"
conf router '    frob = 1'
router 2 "'...', line ...: ..." --config "$conf"
router 1 "cannot bind '...': there is no folder '...'" \
    --endpoint "ipc://$work/none/router"
router 1 "cannot bind '...': ..." --endpoint "ipc://$work/none/router"
router 1 "there is no group '...'" --group nosuchgroup
router 2 "there is no plug-in '...'" --plugin nothing
router 1 "cannot bind '...': there is a file that is no socket" \
    --endpoint "ipc://$work/file"
router 1 "cannot bind '...': another process serves it" \
    --endpoint "$LOCKKEEPER_ENDPOINT"
router 1 "cannot bind '...': file name too long" \
    --endpoint "ipc://$work/$(printf '%0120d' 1)"
#   port_in LOG: of that router.
port_in () {
    sed -n 's/.*down -> up.*address=127.0.0.1:\([0-9]*\) .*/\1/p' "$1"
}
h1_port=$(port_in "$LOCKKEEPER_SANDBOX/h1/router.log")
h2_port=$(port_in "$LOCKKEEPER_SANDBOX/h2/router.log")
router 1 "cannot bind '...': address already in use" \
    --listen "tcp://127.0.0.1:$h1_port"
check 'which a second router of a host is not told to evade' \
    grep -q 'a host has one router, which may run already' "$work/stderr"
router 1 "cannot bind '...': cannot assign requested address" \
    --listen tcp://192.0.2.1:7411
router 1 "cannot bind '...': '...' is neither an address in numbers nor a \
network interface" --listen tcp://nowhere0:7411
router 1 "'...' is no address to be dialled at" --listen 'tcp://*:*'
#   keys MODE ITEM: with what is on standard input for its keys.
keys () {
    install -m "$1" /dev/stdin "$work/keys"
    router 1 "$2" --security curve --keys "$work/keys"
}
keys 600 "'...' has no pair of keys" </dev/null
keys 600 "'...', line ..., is no pair of keys" <<<'nonsense'
keys 644 "others may read '...'" </dev/null
fails lockkeeper-router.8 1 'cannot make a socket: ...' prlimit --nofile=20 \
    "$router" --host h9 --listen 'tcp://127.0.0.1:*' \
    --endpoint "ipc://$work/router"
#   Of a cluster that begins anew, in cli_recover; and of a full disk then.
#   It is written by whom its folder is.
unmet lockkeeper-lockd.8 "cannot write the log '...': ..."
unmet lockkeeper-lockd.8 'asked to begin generation=... by=...' \
    "generation: ... -> ... cluster='...'" 'locks stand still: ...' \
    'this host does not join by itself: ...'
#   Threads that may be made are those of the user, and root may make all.
unmet lockkeeper-router.8 'cannot make a thread: ...' \
    'cannot say who may connect: ...'
#   In roles.sh, and in a unit test of a router and its settings.
unmet lockkeeper-router.8 'that is no credential' \
    'the credential was changed since it was issued' \
    'the credential does not count yet' 'the credential has ended' \
    'the credential is of another key' \
    'the issuer of the credential does not speak for that zone' \
    'the credential was revoked' \
    'router: no endpoint for admins, its path would be too long'
nobody lockkeeper-router.8 1 "cannot bind '...': permission denied" \
    lockkeeper-router --host h9 --endpoint "ipc://$work/locked/router" \
    --listen 'tcp://127.0.0.1:*'
nobody lockkeeper-router.8 2 "cannot open '...': permission denied" \
    lockkeeper-router --config "$work/locked/conf"
if [ -n "$root" ]; then
    fails lockkeeper-router.8 1 "cannot give '...' to its group: ..." \
        setpriv --bounding-set=-chown --inh-caps=-chown "$router" --host h9 \
        --listen 'tcp://127.0.0.1:*' --endpoint "ipc://$work/router" \
        --group 65534
else
    unmet lockkeeper-router.8 "cannot give '...' to its group: ..."
fi

#   identity ITEM TEXT: of a router whose identity file has that text.
identity () {
    conf router "    identity = \"$work/state/identity\"" \
        '    listen = "tcp://127.0.0.1:*"'
    [ -z "$2" ] || printf '%b' "$2" >"$work/state/identity"
    fails lockkeeper-router.8 1 "$1" "$router" --config "$conf" \
        --endpoint "ipc://$work/router"
    rm -f "$work/state/identity"
}
identity "'...', line ..., makes no sense: remove the file" 'host = a b\n'
identity "'...' names no host: remove the file" '# nothing\n'
if [ -s /etc/machine-id ]; then
    identity "'...' is that of host '...' on another machine" \
        'host = h1\nmachine = 0123456789abcdef\n'
else
    unmet lockkeeper-router.8 "'...' is that of host '...' on another machine"
fi
exec 7>"$work/state/identity.lock"
flock 7
identity "'...' is in use by another process" ''
exec 7>&-
conf router "    identity = \"$work/none/identity\""
fails lockkeeper-router.8 1 \
    "cannot keep which host this is: there is no folder '...'" \
    "$router" --config "$conf" --endpoint "ipc://$work/router"
if unshare -u true 2>/dev/null; then
    conf router "    identity = \"$work/state/identity\""
    fails lockkeeper-router.8 1 "the system's name, '...', cannot name a host" \
        unshare -u /usr/bin/python3 -c '
import os, socket, sys
socket.sethostname("a b")
os.execv(sys.argv[1], sys.argv[1:])' "$router" --config "$conf"
else
    unmet lockkeeper-router.8 "the system's name, '...', cannot name a host"
fi
conf router '    neighbour = "192.0.2.7:1"'
fails lockkeeper-router.8 1 \
    "no 'router/neighbour' is an address of this host" "$router" \
   --config "$conf" --host h9 --endpoint "ipc://$work/router"
conf router '    neighbour = "127.0.0.1:1"' '    neighbour = "127.0.0.1:2"'
fails lockkeeper-router.8 1 \
    "two 'router/neighbour' are addresses of this host" "$router" \
   --config "$conf" --host h9 --endpoint "ipc://$work/router"

#   ------------------------------------------------------------ plug-ins

mkdir "$work/plugins"
plugin () {
    local item=$1
    shift
    fails lockkeeper-router.8 2 "$item" "$router" --host h9 --listen \
        'tcp://127.0.0.1:*' --endpoint "ipc://$work/router" "$@"
}
echo nonsense >"$work/plugins/lockkeeper-text.so"
plugin "cannot load plug-in '...': ..." --plugin-dir "$work/plugins" \
    --plugin text
cp "$BUILD/liblockkeeper.so" "$work/plugins/lockkeeper-library.so"
plugin "'...' is no plug-in" --plugin-dir "$work/plugins" --plugin library
version=$("$lockkeeper" version | cut -d ' ' -f 2)
LC_ALL=C sed "s/${version//./\\.}/${version%?}?/g" "$BUILD/lockkeeper-lock.so" \
    >"$work/plugins/lockkeeper-lock.so"
plugin "plug-in '...' is of version ... and this router of ..." \
    --plugin-dir "$work/plugins" --plugin lock
plugin "the path of plug-in '...' is too long" \
    --plugin-dir "/$(printf '%04090d' 1)" --plugin lock
conf lock '    leader-lease = 1000'
plugin "plug-in '...': ..." --plugin lock --config "$conf"

#   ------------------------------------------------------------ a lock service

lockd 2 "'...' is no value for '...': ..." --leaders 2
lockd 2 "'...' is less than two times '...'" --leader-lease 1000
lockd 2 "'...' is not more than three times '...'" --host-lease 3000
lockd 1 "there is no folder '...'" --run "$work/none"
lockd 1 "there is no folder '...'" --state "$work/none"
lockd 1 "cannot open the folder '...': ..." --state "$work/file"
lockd 1 "'...' is in use by another process" --state "$LOCKKEEPER_SANDBOX/h1"
nobody lockkeeper-lockd.8 1 \
    "cannot write to the folder '...': permission denied" lockkeeper-lockd \
    --run "$work/locked" --state "$work/state"
nobody lockkeeper-lockd.8 1 "cannot open '...': permission denied" \
    lockkeeper-lockd --run /tmp --state "$work/state"
echo garbage >"$work/state/lock.state"
lockd 1 "'...' makes no sense: ..."
head -c 300000 /dev/zero >"$work/state/lock.state"
lockd 1 "'...' is larger than ... bytes"
rm "$work/state/lock.state"
mkdir "$work/state/lock.state"
lockd 1 "cannot read '...': ..."
rmdir "$work/state/lock.state"
if unshare -pf true 2>/dev/null; then
    fails lockkeeper-lockd.8 1 "the router refused service '...': ..." \
        unshare -pf "$lockd" --run "$work/run" --state "$work/state" \
        --log-level error --endpoint "$LOCKKEEPER_ENDPOINT"
else
    unmet lockkeeper-lockd.8 "the router refused service '...': ..."
fi

#   ------------------------------------------------------------ logs

#   own HOST OPTIONS...: a router of that name for a lock service of its own;
#   its log is own.log.
own () {
    rm -f "$work/own.log"
    "$router" --host "$1" --listen 'tcp://127.0.0.1:*' \
        --endpoint "ipc://$work/own" "${@:2}" 2>"$work/own.log" &
    own=$!
    await grep -qs 'down -> up' "$work/own.log"
}
#   of_router, of_lockd ITEM FILE [LEVEL]
of_router () {
    check "router logs: $1" logged lockkeeper-router.8 "$@"
}
of_lockd () {
    check "lockd logs: $1" logged lockkeeper-lockd.8 "$@"
}
stop () {
    kill "$@"
    wait "$@"
}

mkdir "$work/state2" "$work/run2"
"$lockd" --run "$work/run2" --state "$work/state2" \
    --endpoint "$LOCKKEEPER_ENDPOINT" 2>"$work/second.log" &
second=$!
"$lockkeeper" init --cluster c --members h1 --host h1 --state "$work/state2b" \
    >/dev/null
"$lockd" --run "$work/run" --state "$work/state2b" \
    --endpoint "ipc://$work/own" 2>"$work/lone.log" &
lone=$!
of_lockd "still waiting: no router at '...': ..." "$work/lone.log"
of_lockd 'still waiting: ...' "$work/lone.log"
of_lockd 'still waiting: the router refused: name is taken by process ...' \
    "$work/second.log"
stop $second

/usr/bin/python3 -c '
import socket, sys, time
silent = socket.create_server(("127.0.0.1", 0))
print(silent.getsockname()[1], flush=True)
time.sleep(300)' >"$work/silent" &
silent=$!
await test -s "$work/silent"
own lone --neighbour "127.0.0.1:$(cat "$work/silent")" \
    --neighbour nowhere.invalid:1 --neighbour 127.0.0.1:1
of_lockd "the genesis in '...' does not name this host, '...'" "$work/lone.log"
of_router 'cannot connect: ...' "$work/own.log" 'neighbour: '
of_router 'its name does not resolve: ...' "$work/own.log" 'neighbour: '
of_router 'it was reached, but does not answer as a router, or does not know '"\
our keys" "$work/own.log" 'neighbour: '
kill -9 $own
wait $own 2>/dev/null
of_lockd 'router lost: service=...' "$work/lone.log"
own other
of_lockd 'the router is that of another host: ... -> ...' "$work/lone.log"
check 'and it ends' await bash -c "! kill -0 $lone"
"$lockd" --run "$work/run2" --state "$work/state2" \
    --endpoint "ipc://$work/own2" 2>"$work/gone.log" &
gone=$!
await grep -q 'serving as a proxy' "$work/gone.log"
rm -r "$work/run2"
"$router" --host h8 --listen 'tcp://127.0.0.1:*' \
    --endpoint "ipc://$work/own2" 2>"$work/own2.log" &
own2=$!
of_lockd "cannot use '...': ..." "$work/gone.log"
stop $own2 2>/dev/null
wait $gone

#   Two of one name; two of one name that are dialled by a third.
stop $own
own h1 --neighbour "127.0.0.1:$h2_port"
of_router "neighbour: refused by it: another live host is called '...'" \
    "$work/own.log"
of_router 'neighbour: refused by it: ...' "$work/own.log"
of_router "neighbour: refused: another live host is called '...'" \
    "$LOCKKEEPER_SANDBOX/h2/router.log"
of_router 'neighbour: refused: ...' "$LOCKKEEPER_SANDBOX/h2/router.log"
"$router" --host third --listen 'tcp://127.0.0.1:*' \
    --endpoint "ipc://$work/own2" \
    --neighbour "127.0.0.1:$(port_in "$work/own.log")" \
    --neighbour "127.0.0.1:$h1_port" 2>"$work/own2.log" &
own2=$!
of_router 'neighbour: not taken: ...' "$work/own2.log"
stop $own2 $own

#   pair_of KIND FILE
pair_of () {
    sed -n "s/.*$1-key = \"\(.*\)\"/\1/p" "$2"
}
#   host_keys FOLDER HOST PAIR OTHER PAIR: the first is its own.
host_keys () {
    install -d "$work/$1"
    {
        printf 'curve\n    host = %s\n' "$2"
        grep -- '-key' "$work/$3"
        printf 'accepted\n    host = %s\n' "$4"
        grep public-key "$work/$5"
    } >"$work/$1/keys"
    chmod 600 "$work/$1/keys"
}
for pair in one two three; do
    "$BUILD/lockkeeper" keys make "$work/$pair" >/dev/null
done
host_keys keys1 keyed one keyed2 two
host_keys keys2 keyed2 two keyed one
host_keys keys3 keyed3 two keyed one
router 1 "'...' has the keys of host '...', and this is '...'" \
    --security curve --keys "$work/keys1/keys"

#   other HOST KEYS OPTIONS...
other () {
    rm -f "$work/own2.log"
    "$router" --host "$1" --security curve --keys "$work/$2/keys" \
        --listen 'tcp://127.0.0.1:*' --endpoint "ipc://$work/own2" "${@:3}" \
        2>"$work/own2.log" &
    own2=$!
    await grep -qs 'down -> up' "$work/own2.log"
}
#   keyed3 has the pair of keyed2.
other keyed3 keys3
own keyed --security curve --keys "$work/keys1/keys" \
    --neighbour "127.0.0.1:$(port_in "$work/own2.log")"
of_router 'neighbour: not taken: its key is that of another host' \
    "$work/own.log"
of_router 'neighbour: refused: its key is that of another host' "$work/own.log"
stop $own2
#   One that has lost the folder of its keys.
own_port=$(port_in "$work/own.log")
stop $own
other keyed2 keys2 --neighbour "127.0.0.1:$own_port"
rm -r "$work/keys2"
own keyed --security curve --keys "$work/keys1/keys" \
    --address "127.0.0.1:$own_port" --listen "tcp://127.0.0.1:$own_port"
of_router 'keys: not kept over a restart: ...' "$work/own2.log"
check 'it makes no new ones' code 125 \
    "$BUILD/lockkeeper" keys rotate --endpoint "ipc://$work/own2"
of_router 'keys: not changed: ...' "$work/own2.log"
stop $own2
#   For these somebody has to take the port within some milliseconds; 140 keys
#   have to be there; a withdrawn one is used ahead of the end of a connection.
#   That of a host that is forgotten in tests/cluster/keys.sh.
unmet lockkeeper-router.8 "keys: cannot bind '...' anew: ..." \
    'there are ... keys already: forget hosts that are gone' \
    'neighbour: refused: its key is withdrawn' \
    'no key of the router there is accepted'
install -d "$work/keys4"
for _ in 1 2 3 4; do cat "$work/one"; done >"$work/keys4/keys"
chmod 600 "$work/keys4/keys"
other keyed4 keys4
"$BUILD/lockkeeper" keys rotate --endpoint "ipc://$work/own2" 2>"$work/stderr"
check 'there is room for so many' grep -q 'pairs of keys already: withdraw' \
    "$work/stderr"
note lockkeeper-router.8 \
    'there are ... pairs of keys already: withdraw the former ones'
stop $own2
"$router" --host plain --listen 'tcp://127.0.0.1:*' \
    --neighbour "127.0.0.1:$own_port" --endpoint "ipc://$work/own2" \
    2>/dev/null &
own2=$!
of_router 'neighbour: refused: a connection that has none of our keys' \
    "$work/own.log"
cat >"$work/ticket" <<end
invitation
    address = "127.0.0.1:$own_port"
    server-key = "$(pair_of public "$work/one")"
    secret-key = "$(pair_of secret "$work/three")"
end
conf router "    keys = \"$work/keyed3/keys\"" '    address = "127.0.0.1:*"' \
    "    identity = \"$work/keyed3/identity\"" \
    lock "    state = \"$work/keyed3\"" "    run = \"$work/keyed3\""
check 'it cannot join' says 125 'does not know our keys' \
    "$BUILD/lockkeeper" init --config "$conf" --host keyed3 --join \
    --invitation "$work/ticket"
of_router 'neighbour: refused: its key is not of this cluster' "$work/own.log"
stop $own2 $own

#   A folder where a journal was.
mkdir -p "$work/state4/lock.journal"
lockd 1 "cannot remove '...': ..." --run "$work/run" --state "$work/state4" \
    --endpoint "ipc://$work/own" --log-level error

#   A full disk.
if mkdir "$work/full" && mount -t tmpfs -o size=16k none "$work/full" \
    2>/dev/null; then
    own full
    "$lockkeeper" init --cluster c --members full --host full \
        --state "$work/full" >/dev/null
    "$lockd" --run "$work/run" --state "$work/full" --leader-lease 700 \
        --dead-after 300 --host-lease 2200 --endpoint "ipc://$work/own" \
        2>"$work/full.log" &
    lockd=$!
    check 'it begins' "$lockkeeper" wait-ready --timeout 90 \
        --endpoint "ipc://$work/own"
    head -c 16384 /dev/zero >"$work/full/file" 2>"$work/out"
    kill -STOP $lockd
    sleep 3
    kill -CONT $lockd
    of_lockd 'the lock service ends: ...' "$work/full.log"
    wait $lockd
    lockd=$BUILD/lockkeeper-lockd
    mkdir "$work/state3"
    lockd 1 "cannot make '...': ..." --run "$work/full" \
        --state "$work/state3" --endpoint "ipc://$work/own" --log-level error
    stop $own
    conf router "    identity = \"$work/full/identity\"" \
        '    listen = "tcp://127.0.0.1:*"'
    fails lockkeeper-router.8 1 "cannot write '...': no space left on device" \
        "$router" --config "$conf" --endpoint "ipc://$work/router"
    umount "$work/full"
else
    unmet lockkeeper-router.8 "cannot write '...': no space left on device"
    unmet lockkeeper-lockd.8 "cannot make '...': ..." \
        'the lock service ends: ...'
fi

#   Of another cluster.
"$lockkeeper" init --cluster c --members h9 --host h9 --state "$work/state9" \
    >/dev/null
mkdir "$work/run9"
own h9 --neighbour "127.0.0.1:$h1_port"
"$lockd" --run "$work/run9" --state "$work/state9" --leader-lease 700 \
    --dead-after 300 --host-lease 2200 --endpoint "ipc://$work/own" \
    2>"$work/nine.log" &
nine=$!
of_lockd 'refused lock service host=...: ...' \
    "$LOCKKEEPER_SANDBOX/h1/lockd.log"
await grep -q 'decree in force' "$work/nine.log"
"$lockkeeper" wait-ready --timeout 90 --endpoint "ipc://$work/own" >"$work/out"
kill -STOP $nine
sleep 3
kill -CONT $nine
of_lockd 'session over: session=... why=...' "$work/nine.log"
stop $nine $own

#   Reloading; a lock service that is hosted, and cannot.
conf router "    remembered = \"$work/run\"" \
    '    endpoint = "ipc://'"$work"'/own"' \
    '    listen = "tcp://127.0.0.1:*"' '    host = host' lock \
    "    state = \"$work/none\"" "    run = \"$work/run\""
"$router" --config "$conf" --plugin lock 2>"$work/own.log" &
own=$!
of_router 'neighbour: none is remembered: ...' "$work/own.log"
of_router 'hosted: not started, the router goes on without it' "$work/own.log"
sed 's/run = .*/dead-after = 5000/' "$conf" >"$conf.new"
mv "$conf.new" "$conf"
kill -HUP $own
of_router 'hosted: not started: ...' "$work/own.log"
echo '    frob = 1' >>"$conf"
echo '    prot = 1' >>"$conf"
kill -HUP $own
of_router 'config: not reloaded: ...' "$work/own.log"
check 'and that there is more' logged lockkeeper.conf.5 \
    '...; `lockkeeper config verify` tells ... more' "$work/own.log"
kill $own
wait $own

#   More connections than it may have descriptors.
rm -f "$work/own.log"
prlimit --nofile=64 "$router" --host few --listen 'tcp://127.0.0.1:*' \
    --endpoint "ipc://$work/own" 2>"$work/own.log" &
own=$!
await grep -qs 'down -> up' "$work/own.log"
/usr/bin/python3 -c '
import socket, sys, time
many = [socket.socket(socket.AF_UNIX) for i in range(90)]
for one in many:
    one.settimeout(1)
    try:
        one.connect(sys.argv[1])
    except OSError:
        pass
time.sleep(5)' "$work/own" &
many=$!
of_router 'router: no descriptors left' "$work/own.log"
kill $many $own $silent
wait

#   ------------------------------------------------------------ mistakes

#   wrong ITEM LINES...: `config verify` says it of a file with these lines.
wrong () {
    local item=$1
    shift
    printf '%b\n' "$@" >"$work/conf"
    "$lockkeeper" config verify "$work/conf" >"$work/verified" 2>&1
    check "mistake: $item" logged lockkeeper.conf.5 "$item" "$work/verified" \
        "'$work/conf'"
}
wrong "there is no setting '...'" router '    prot = 1'
wrong "'...' is no value for '...': ..." router '    mode = 9'
wrong "'lock/leader-lease' is less than two times 'lock/dead-after'" \
    lock '    leader-lease = 1500'
wrong "'lock/host-lease' is not more than three times 'lock/leader-lease'" \
    lock '    host-lease = 6000'
wrong "the lock service would seek the router at '...', and it is at '...'" \
    router '    endpoint = "ipc:///a"' lock '    endpoint = "ipc:///b"'
wrong 'larger than 256 KiB' "$(printf '#%0300000d' 1)"
wrong 'has a NUL byte: it is no text' 'router\0'
wrong "'...' makes no sense here" 'router host'
wrong "'...' is there twice, first in line ..." router '    host = a' \
    '    host = b'
wrong "'...' is a section, which has no value" 'router = 1'
wrong "'...' is no section" router '    host' '        name = 1'
wrong 'longer than ... bytes' "router" "    host = $(printf '%01100d' 1)"
wrong 'the name is too long' "$(printf '%0300d' 1)"
wrong 'the second " is missing' router '    host = "a'
wrong "the second ' is missing" router "    host = 'a"
wrong 'indented by a tab' router '\thost = a'
wrong 'indented by spaces that are not four' router '  host = a'
wrong 'wrong indentation: ...' '    host = a'
wrong "there is no folder '...': make it" lock "    state = \"$work/none\""
wrong "'...' is no folder" lock "    state = \"$work/file\""
wrong "there is no group '...'" router '    group = nosuchgroup'
wrong "no 'router/neighbour' is an address of this host" \
    router '    neighbour = "192.0.2.7:1"'
wrong "two 'router/neighbour' are addresses of this host" \
    router '    neighbour = "127.0.0.1:1"' '    neighbour = "127.0.0.1:2"'
touch "$work/conf"
chmod o+w "$work/conf"
wrong 'anybody may write to it: chmod o-w' router
chmod o-w "$work/conf"
#   as ITEM COMMAND...: `config verify` by that command, of that file.
as () {
    local item=$1
    shift
    "$@" "$work/bin/lockkeeper" config verify "$work/conf" \
        >"$work/verified" 2>&1
    check "mistake: $item" logged lockkeeper.conf.5 "$item" "$work/verified" ''
}
conf lock "    state = \"$work/locked\""
if [ -n "$root" ]; then
    mkdir -m 500 "$work/mine"
    chown 65534 "$work/mine"
    conf lock "    state = \"$work/mine\""
    as "the folder '...' is not writable: ..." \
        setpriv --reuid 65534 --regid 65534 --clear-groups
else
    unmet lockkeeper.conf.5 "the folder '...' is not writable: ..."
fi
if unshare -u true 2>/dev/null; then
    conf router '    neighbour = "127.0.0.1:1"' "    identity = \"$work/none\""
    # shellcheck disable=SC2016
    as "the system is called '...', as are others" unshare -u /usr/bin/python3 \
        -c 'import os, socket, sys
socket.sethostname("localhost")
os.execv(sys.argv[1], sys.argv[1:])'
else
    unmet lockkeeper.conf.5 "the system is called '...', as are others"
fi
rm -r "$work/conf"
head -c 300000 /dev/zero >"$work/conf"
"$lockkeeper" config set router/mode 660 --config "$work/conf" \
    >"$work/verified" 2>&1
check 'set: no text' logged lockkeeper.conf.5 "'...' is too large or no text" \
    "$work/verified" ''

#   Others' tests have these (core, refusals, tables; no descriptors); some only
#   a machine that has a user lockkeeper, or no resolver's answer at all.
#   Those of the settings are met in cli_settings and unit/lock_settings, of the
#   journal in cli_journal and core_journal.
unmet lockkeeper-lockd.8 'cannot keep a journal: ...' \
    "cannot move '...': ..." "cannot open '...': ..." \
    'cannot write to the journal: ...' \
    "the journal of '...' ...: it is moved to 'lock.journal.damaged', \
and others fill this host's table anew" \
    "the journal's table is not what was recorded: it is filled anew"
unmet lockkeeper-lockd.8 \
    "settings: version ... in '...' was changed or damaged" \
    "'...' makes no sense: ...; \
the settings are fetched again from another host"
unmet lockkeeper-lockd.8 'ALERT ...' 'no more terms: promised=...' \
    'too many terms of late: promised=...' \
    'dropped what makes no sense command=... host=... count=...' \
    'dropped what its sender may not say: host=... command=... count=...' \
    'reclaim: two hosts claim one object' \
    "reclaim: static locks are gone, if there were any: \
all leaders were down at once" \
    'the router does not take what we say: ...' \
    'joining: no member yet, only a proxy: ...' \
    "keys: not in the settings yet: ...; \`lockkeeper keys show\` tells which" \
    "cannot remove '...', which has this host become a member again" \
    'the lock service of host=... refuses us: ...' \
    'too many hosts to greet host=...' "too many hosts to join cluster '...'" \
    'no room for host=...: ... are there, hold locks or are members count=...'
unmet lockkeeper-router.8 'cannot look up its name: ...' \
    "cannot set the mode of '...': ..." 'session: cannot watch process: ...' \
    'neighbour: more than ..., ignored address=...' \
    'neighbour: not listened to: ...' "neighbour: cannot write '...': ..." \
    'cut off: it does not read what it is told who=...'
#   As far_beacon has it of a machine without a router.
unmet lockkeeper-router.8 'beacon: ...'
#   cluster/far has these.
unmet lockkeeper-router.8 \
    "clients: refused: it does not know our key, or speaks without \
address=..." \
    'clients: refused: the settings do not have its key ... address=...'
unmet lockkeeper.conf.5 \
    "the folder '...' is not the user '...'s, as which the daemons run"
all_met lockkeeper-router.8 lockkeeper-lockd.8 lockkeeper.conf.5
done_checking
