#!/bin/bash
#   keys.sh - routers that know each other by keys: invited, rotated, refused
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"

#   member H: it is one.
member () {
    at h1 cluster members | grep -q "^$1 .*\(leader\|member\)"
}
#   linked H OTHER
linked () {
    at "$1" status | grep -q "^$2 .* live "
}
#   shows H STATE HOST [KEY]: it has such a key.
shows () {
    at "$1" keys show | grep -qF -- "$(printf '%-12s %-10s %s' "$2" "$3" "$4")"
}
lacks () {
    at "$1" keys show >"$work/shown" && ! grep -qF -- "$2" "$work/shown"
}
#   listed H N: the settings have so many keys.
listed () {
    [ "$(at "$1" settings get router/key 2>/dev/null | grep -c .)" = "$2" ]
}
for host in h1 h2 h3 h4 h5 h6 h7 h8 h9 h10; do own $host; done
mkdir "$work/h5/state"

#   ------------------------------------------------------------ the first

check 'shown' says 0 "$work/h1/state/keys: the keys of this host's router" \
    init h1 --first --cluster one --dry-run
check 'and not written' test ! -e "$work/h1/state/keys"
check 'the first host' says 0 'lockkeeper init --join --invitation -' \
    init h1 --first --cluster one
check 'its keys are for us alone' \
    test "$(stat -c %a "$work/h1/state/keys")" = 600
check 'they are used' grep -qE '^    security = "?curve"?$' "$work/h1/conf"
cp "$work/h1/state/keys" "$work/before"
check 'once more' says 0 'nothing to do' init h1 --first --cluster one
check 'they stay' cmp "$work/before" "$work/h1/state/keys"
start h1
check 'locks can be had' at h1 wait-ready --timeout 90
check 'no secret is shown' says 0 'in use ' at h1 keys show
check 'not one' code 1 grep -qF -- \
    "$(sed -n 's/.*secret-key = "\(.*\)"/\1/p' "$work/before")" "$work/said"

#   ------------------------------------------------------------ strangers

check 'without an invitation' says 125 'does not know our keys' \
    init h2 --join "$net.1"
check 'nothing was written' test ! -e "$work/h2/state"
check 'no file' says 125 "cannot read '$work/none'" \
    init h2 --join --invitation "$work/none"
echo 'lk' >"$work/nonsense"
check 'no invitation' says 125 "line 1, is of no invitation" \
    init h2 --join --invitation "$work/nonsense"
check 'keys of their own' says 0 "made '$work/h5/keys'" \
    "$lockkeeper" keys make "$work/h5/keys"
check 'not made twice' says 125 'is there already' \
    "$lockkeeper" keys make "$work/h5/keys"
sed -i "s|^router\$|&\n    security = curve\n    keys = \"$work/h5/keys\"\n\
    host = h5\n    neighbour = \"$net.1:7411\"|" "$work/h5/conf"
start h5
refused () {
    at h1 status | grep -q "a connection that has none of our keys"
}
check 'another key is refused, and seen' await refused
check 'it is not linked' test -z "$(at h1 status | grep '^h5')"
chmod 644 "$work/h5/keys"
check 'keys that others may read' says 1 "others may read '$work/h5/keys'" \
    "$BUILD/lockkeeper-router" --config "$work/h5/conf"
chmod 600 "$work/h5/keys"
stop h5

#   ------------------------------------------------------------ invited

at h1 invite --minutes 30 >"$work/ticket"
check 'invited' grep -q "^    address = \"$net.1:7411\"\$" "$work/ticket"
check 'would join' says 0 'the wish to become a member' \
    init h2 --join --invitation "$work/ticket" --dry-run
check 'a name that is taken' says 125 "a host of that name is there" \
    "$lockkeeper" init --config "$work/h2/conf" --host h1 \
    --address "$net.2" --join --invitation "$work/ticket"
check 'joins' says 0 "'h2' is to join cluster 'one'" \
    init h2 --join --invitation "$work/ticket"
secret_of () {
    sed -n 's/.*secret-key = "\(.*\)"/\1/p' "$1"
}
check 'with a pair of its own' test \
    "$(secret_of "$work/h2/state/keys" | grep -c .)" = 1
check 'and not by that of h1' code 1 grep -qF -- \
    "$(secret_of "$work/h1/state/keys")" "$work/h2/state/keys"
check 'whose key it knows' grep -qF -- "$(key_of h1)" "$work/h2/state/keys"
check 'the invitation is used up' says 125 'does not know our keys' \
    init h3 --join --invitation "$work/ticket"
check 'another one, by a pipe' says 0 "'h3' is to join" joins h3
check 'its name is taken then' says 125 'a host of that name has a key' joins h3
check 'a fourth' says 0 "'h4' is to join" joins h4
#   Before the settings can have its key, which h1 is to know all the same.
stop h1
start h1
for host in h2 h3 h4; do start $host; done
for host in h2 h3 h4; do
    check "$host becomes a member" await member $host
done
check 'all are in the settings' await listed h3 4
check 'nothing is pending' await lacks h1 pending
check 'for how long' says 125 'a number from 1 to 60' at h1 invite --minutes 61

#   tries H: its keys and connections.
tries () {
    "$lockkeeper" config verify --connect --config "$work/$1/conf" "${@:2}"
}
check 'keys are right' says 0 'right: keys of' tries h2
check 'a neighbour answers' grep -qF "$net.1:7411: right: host h1, with keys" \
    "$work/said"
check 'its own router, too' grep -qF \
    "ipc://$work/h2/router: right: host h2, for its own" "$work/said"
check 'as JSON' says 0 '"host":"h1","means":"with keys"' tries h2 --json
sed "0,/neighbour/s|neighbour = .*|&\n    neighbour = \"$net.9:7411\"|" \
    "$work/h2/conf" >"$work/nobody"
check 'nobody there' says 1 "$net.9:7411: cannot connect: connection refused" \
    "$lockkeeper" config verify --connect "$work/nobody"
check 'the others are tried all the same' grep -qF 'right: host h1' "$work/said"
check 'keys of somebody else' says 1 'does not know our keys' tries h5
check 'no router here' grep -qF "no router at 'ipc://$work/h5/router'" \
    "$work/said"
mv "$work/h5/keys" "$work/h5/away"
check 'no keys' says 1 "'$work/h5/keys'" tries h5
mv "$work/h5/away" "$work/h5/keys"

start_held () {
    LOCKKEEPER_ENDPOINT=ipc://$work/h4/router "$lockkeeper" run kept \
        -- sh -c "echo >'$work/works'; exec sleep 1000" 2>"$work/kept.err" &
    keeper=$!
    await test -e "$work/works"
}
check 'a lock is held' start_held

#   A sandbox, whose settings have no keys at first; it is looked at below.
"$lockkeeper" sandbox --hosts 3 -- sh -c "'$lockkeeper' wait-ready
    '$lockkeeper' forget h3
    '$lockkeeper' settings get router/key
    '$lockkeeper' status" >"$work/box" 2>&1 &
box=$!
pids+=($!)

#   ------------------------------------------------------------ none to curve

#   A cluster that speaks in clear gets keys while it runs.
check 'the first one, in clear' says 0 "lockkeeper init --join $net.6" \
    init h6 --first --cluster two --plain
start h6
check 'it has locks' at h6 wait-ready --timeout 90
check 'which status warns of' says 0 'routers speak in clear' at h6 status
for host in h7 h8; do
    check "$host joins" says 0 "'$host' is to join" \
        init $host --join "$net.6"
    start $host
done
three_members () {
    [ "$(at h6 cluster members | grep -cE '^h[678] .*(leader|member)')" = 3 ]
}
check 'three members' await three_members
LOCKKEEPER_ENDPOINT=ipc://$work/h6/router "$lockkeeper" run kept -- sleep 1000 \
    2>"$work/held.err" &
holder=$!
held () {
    at h7 list --object kept | grep -q '^held '
}
check 'a lock is held' await held
#   on_the_wire NAME COMMAND...: whether that name goes from host to host while
#   the command runs; 77: only root may look.
on_the_wire () {
    /usr/bin/python3 -c '
import select, socket, subprocess, sys
net, name = sys.argv[1], sys.argv[2].encode()
try:
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    wire.bind(("lo", 0))
except OSError:
    sys.exit(77)
ours = socket.inet_aton(net + ".0")[:3]
seen = False
command = subprocess.Popen(sys.argv[3:])
def look():
    packet = wire.recv(70000)
    return ours in (packet[26:29], packet[30:33]) and name in packet

while command.poll() is None:
    seen |= bool(select.select([wire], [], [], 0.1)[0]) and look()
for _ in range(1000):
    seen |= bool(select.select([wire], [], [], 0)[0]) and look()
sys.exit(command.returncode or not seen)' "$net" "$@"
}
try_lock () {
    LOCKKEEPER_ENDPOINT=ipc://$work/h7/router on_the_wire "$1" \
        "$lockkeeper" run "$1" -- true
    status=$?
    [ $status != 77 ] || status=$2
    [ $status = "$2" ]
}
check 'in clear a name is there for all to see' try_lock not-for-you 0
check 'keys are made' "$lockkeeper" keys make "$work/h6/state/keys"
check 'as they were before' test "$(grep -v '^#' "$work/h6/state/keys" |
    sed 's/ = .*//')" = $'curve\n    public-key\n    secret-key'
for host in h7 h8; do cp -p "$work/h6/state/keys" "$work/$host/state/keys"; done
all_linked () {
    local one other
    for one in h6 h7 h8; do
        for other in h6 h7 h8; do
            [ $one = $other ] || linked $one $other || return 1
        done
    done
}
#   restarts H: its router.
restarts () {
    kill "${router[${1#h}]}"
    wait "${router[${1#h}]}"
    "$BUILD/lockkeeper-router" --config "$work/$1/conf" \
        2>>"$work/$1/router.log" &
    router[${1#h}]=$!
    pids+=($!)
    await all_linked
}
#   step TITLE EDITS...: of each host's router in turn.
step () {
    local host at
    for host in h6 h7 h8; do
        at=$net.${host#h}
        sed -i -e "${2//AT/$at}" "$work/$host/conf"
        check "$1: $host" restarts $host
    done
    check "$1: it is held" await held
}
step 'both' 's|^    listen = .*|&\n    security = both\n\
    listen-curve = "tcp://AT:7412"|'
step 'the other port' 's|\(neighbour = .*\):7411|\1:7412|; s|^router$|&\n\
    address = "AT:7412"|'
step 'curve alone' '/listen-curve/d; s|security = both|security = curve|
    s|listen = .*|listen = "tcp://AT:7412"|'
check 'and is not any more' try_lock not-for-you 1
check 'no warning is left' code 1 sh -c \
    "LOCKKEEPER_ENDPOINT=ipc://$work/h6/router $lockkeeper status | grep clear"
check 'nobody is let in without' says 125 'does not know our keys' \
    init h5 --join "$net.7:7412"

#   ------------------------------------------------------------ to hosts' own

#   From the pair of all hosts, in the file as it was made before, to one each.
cp "$work/h6/state/keys" "$work/pair"
old=$(key_of h6)
check 'all have the same pair' test "$(key_of h8)" = "$old"
check 'it cannot be withdrawn' says 1 "host 'h7' has no key of its own" \
    at h6 keys withdraw
for host in h6 h7 h8; do
    check "$host makes its own" says 0 "pending      $host" at $host keys rotate
done
check 'all are in the settings, with the pair' await listed h7 4
uses_own () {
    lacks "$1" pending && [ "$(key_of "$1")" != "$old" ]
}
for host in h6 h7 h8; do
    check "$host uses its own" await uses_own $host
done
check 'they are linked' await all_linked
LOCKKEEPER_ENDPOINT=ipc://$work/h6/router "$lockkeeper" keys withdraw \
    >"$work/withdrawn" 2>&1 &
withdrawing=$!

check 'a sandbox has ended' wait $box
check 'that has withdrawn the key of h3' grep -q '^withdrawn    h3 ' "$work/box"
check 'and has those of the others' test \
    "$(grep -c '^h[12] .\{40\}$' "$work/box")" = 2
check 'h3 is not linked' code 1 grep -q '^h3 .* live ' "$work/box"

#   ------------------------------------------------------------ rotated

own_key=$(key_of h1)
check 'a new pair of h1' says 0 'pending      h1' at h1 keys rotate
changed () {
    [ "$(key_of h1)" != "$own_key" ]
}
check 'is used once the settings have it' await changed
check 'the former one is accepted' shows h2 accepted h1 "$own_key"
check 'and the new one' await shows h2 accepted h1 "$(key_of h1)"
check 'all are linked' await linked h2 h1
check 'both ways' await linked h1 h2

#   ------------------------------------------------------------ impostors

#   poses H NAME: the router of H, by the keys of h3, as the host of that name.
poses () {
    sed "s/host = \"h3\"/host = \"$2\"/" "$work/h3/state/keys" \
        >"$work/$1/keys"
    chmod 600 "$work/$1/keys"
    sed -i "s|^router\$|&\n    security = curve\n    host = $2\n\
    keys = \"$work/$1/keys\"\n    neighbour = \"$net.1:7411\"\n\
    neighbour = \"$net.2:7411\"\n    neighbour = \"$net.4:7411\"|" \
        "$work/$1/conf"
    "$BUILD/lockkeeper-router" --config "$work/$1/conf" \
        2>>"$work/$1/router.log" &
    router[${1#h}]=$!
    pids+=($!)
}
turns_away () {
    at "$1" status | grep -q "refused .*$2"
}
poses h10 h9
check 'a host that comes as another is refused, and seen' \
    await turns_away h1 "its key is that of another host"
check 'it is told why' await grep -q \
    'refused by it: its key is that of another host' "$work/h10/router.log"
check 'it is linked with nobody' test -z "$(at h1 status | grep '^h9')"
kill "${router[10]}"
wait "${router[10]}"
cp "$work/h3/state/keys" "$work/h10/keys"
check 'nor does it begin by a file that was copied' says 1 \
    "has the keys of host 'h3', and this is 'h9'" \
    "$BUILD/lockkeeper-router" --config "$work/h10/conf"

#   ------------------------------------------------------------ stolen

check 'h3 is no member any more' at h1 cluster remove h3
stop h3
stop h2
poses h9 h3
check 'who has stolen the keys of h3 is h3' await linked h1 h3
check 'also to h4' await linked h4 h3
check 'they are withdrawn, while h2 is away' says 0 \
    "withdrawn    h3" at h1 forget h3
check 'which is not told' grep -q "host 'h2' is not connected" "$work/said"
stranger='its key is not of this cluster'
check 'the thief is refused' await turns_away h1 "$stranger"
check 'by h4, too' await turns_away h4 "$stranger"
not_linked () {
    ! linked "$1" "$2"
}
check 'and linked no more' await not_linked h1 h3
check 'its connections were cut' await grep -q 'does not know our keys' \
    "$work/h9/router.log"
check 'before it said a word' code 1 grep -q 'its key is withdrawn' \
    "$work/h9/router.log"
start h2
check 'h2 hears of it' await lacks h2 ' h3 '
check 'and refuses it, too' await turns_away h2 "$stranger"
check 'h2 is linked' await linked h2 h4
check 'h2 has no former key' says 0 'there is no former key' at h2 keys withdraw
check 'h3 may join again, by a key of its own' says 0 "'h3' is to join" joins h3
check 'the lock was held all the time' kill -0 $keeper
check 'nothing was said to its holder' test ! -s "$work/kept.err"
kill $keeper
wait $keeper

#   ------------------------------------------------------------ withdrawn

check 'the pair of all is withdrawn' wait $withdrawing
check 'that is said' grep -qF "withdrawn    * $old" "$work/withdrawn"
file_lacks () {
    ! grep -qF -- "$2" "$work/$1/state/keys"
}
for host in h6 h7 h8; do
    check "$host has it no more" await lacks $host "$old"
    check "$host: nor its file" await file_lacks $host "$old"
done
check 'they are linked' await all_linked
mv "$work/pair" "$work/h5/keys"
sed -i "s/$net.1/$net.6/; s/7411\"\$/7412\"/" "$work/h5/conf"
start h5
check 'who has it is refused' await turns_away h6 \
    'a connection that has none of our keys'
stop h5
check 'the lock is held' kill -0 $holder
check 'nothing was said to its holder' test ! -s "$work/held.err"
kill $holder
wait $holder
done_checking
