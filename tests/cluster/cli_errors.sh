#!/bin/bash
#   cli_errors.sh - errors of lockkeeper(1): provoked, and told as in its page
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Each has its exit code, nothing on stdout, and a first line on stderr that
#   begins with an item of DIAGNOSTICS; and each such item is met here.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --plain --hosts 3 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=6000
# shellcheck source=tests/cluster/errors_tap.sh
. "$(dirname "$0")/errors_tap.sh"

#   says_it CODE ITEM ARGUMENTS...: of lockkeeper.
says_it () {
    local wanted=$1 item=$2
    shift 2
    check "$item" met lockkeeper.1 "$wanted" "$item" "$lockkeeper" "$@"
}
#   it_says CODE ITEM COMMAND...: what is on stdout besides is not looked at.
it_says () {
    local wanted=$1 item=$2
    shift 2
    # shellcheck disable=SC2016
    check "$item" met lockkeeper.1 "$wanted" "$item" \
        sh -c '"$@" >/dev/null' sh "$@"
}
#   begin NAME ARGUMENTS...: of lockkeeper; ended CODE ITEM NAME: what that
#   says, when it is over.
declare -A begun=()
begin () {
    local name=$1
    shift
    "$lockkeeper" "$@" >"$work/$name.out" 2>"$work/$name.err" &
    begun[$name]=$!
}
ended () {
    wait "${begun[$3]}"
    # shellcheck disable=SC2016
    check "$2" met lockkeeper.1 "$1" "$2" \
        sh -c 'cat "$1.out"; cat "$1.err" >&2; exit $2' sh "$work/$3" $?
}
pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$2.pid"
}
mkdir "$work/run" "$work/state"
none=ipc://$work/none/router

#   nobody CODE ITEM PROGRAM ARGUMENTS...: as the user of nothing, with programs
#   that it may read.
nobody () {
    local wanted=$1 item=$2
    shift 2
    if [ "$(id -u)" != 0 ]; then
        unmet lockkeeper.1 "$item"
        return
    fi
    check "another user: $item" met lockkeeper.1 "$wanted" "$item" \
        "${as_nobody[@]}" "$@"
}
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" = 0 ]; then
    mkdir "$work/bin" "$work/locked" "$work/open"
    cp "$BUILD"/lockkeeper* "$work/bin/"
    chmod 755 "$work" "$work/bin" "$LOCKKEEPER_SANDBOX" \
        "$LOCKKEEPER_SANDBOX/h1" "$work/open"
    chmod 700 "$work/locked"
fi

#   at_terminal FILE COMMAND PATTERN: with what is in the file typed. The first
#   line of that pattern is what it said.
at_terminal () {
    TERM=xterm timeout 90 script -qec "$2" /dev/null <"$1" | tr -d '\r' |
        grep "$3" | head -n 1 | sed 's/.*\(lockkeeper: \)/\1/' >&2
    return "${PIPESTATUS[0]}"
}

#   ------------------------------------------------------------ usage

says_it 125 "there is no verb '...'" frobnicate
says_it 125 "there is no verb '...'" help frobnicate
says_it 125 "'...' is no option of '...'" run x --frob -- true
says_it 125 "option '...' needs a value" run x --wait
says_it 125 "--... needs ..., not '...'" run x --wait soon -- true
says_it 125 "'...' needs ..." run x
says_it 125 "'...' takes ..." version now
says_it 125 "'...' has one value" \
    config set router/dead-after 500 600 --config "$work/conf"
says_it 125 '--... does not go with ...' lock x --key 1 --wait 1
says_it 125 '--reason and --token go with --force' unlock x 1 --reason late
says_it 125 '--policy and --quiet are for exclusive locks' \
    run x --shared --quiet 1 -- true
says_it 125 '--quiet makes a soft policy' \
    run x --policy hard --quiet 1 -- true
says_it 125 '--cluster is for --first' init --join 192.0.2.1 --cluster c
says_it 125 '--state is for --members' init --first --cluster c --state /
says_it 125 '--proxy and --unseen are for --join' \
    init --first --cluster c --unseen
says_it 125 'a host is the --first, or does --join' \
    init --first --join 192.0.2.1
says_it 125 "'...': addresses are for --join" init --first 192.0.2.1
says_it 125 '--... needs ...' run x --lenient -- true
says_it 125 'several names need --all' run x y -- true
says_it 125 "--... needs ..., not '...'" run x --policy kind -- true
says_it 125 '--quiet is a day at most' run x --quiet 86401 -- true
says_it 125 '--semaphore and --bound are 1000000000 at most' \
    run x --semaphore 1000000001 -- true
says_it 125 "'...' is no number from 1 on" acquire x 0 1
says_it 125 'there are ... units at most' acquire x 1000000 1000000
says_it 125 'a sandbox has at most ... hosts' sandbox --hosts 16 -- true
says_it 125 "'...' is no key: a key is up to 16 hexadecimal digits" \
    unlock x hello
says_it 125 "'...' is no token: a token is a number" check x hello
says_it 125 "'...' is no name of a host" cluster add 'a b'
says_it 125 "'...' is no name of a drop-in" \
    config set router/mode 600 --drop-in a/b --config "$work/conf"
says_it 125 "there is no setting '...'" config get router/prot
says_it 125 "'...' cannot name a lock" run '' -- true
says_it 125 "'...' cannot name a lock" run "$(printf '%04097d' 1)" -- true

#   ------------------------------------------------------------ no router

says_it 125 "no router at '...': no such file or directory" \
    run x --endpoint "$none" -- true
says_it 125 "no router at '...': no such file or directory" \
    status --endpoint "$none"
touch "$work/file"
says_it 125 "no router at '...': connection refused" \
    list --endpoint "ipc://$work/file"
says_it 125 "cannot connect to '...': file name too long" \
    list --endpoint "ipc:///$(printf '%0120d' 1)"
says_it 125 "'...' is no endpoint of a router" \
    list --endpoint tcp://127.0.0.1:7411
kill -STOP "$(pid_of h3 router)"
says_it 125 "the router at '...' does not answer" \
    status --endpoint "$LOCKKEEPER_ENDPOINT_h3"
await says 1 "'h3' is not connected" "$lockkeeper" forget h77
it_says 1 "host '...' is not connected, and was not told" \
    "$lockkeeper" forget h77
kill -CONT "$(pid_of h3 router)"
await says 1 'h3             did not know it' "$lockkeeper" forget h77
it_says 1 "no router knows '...'" "$lockkeeper" forget h77
it_says 1 "host '...' does not forget '...': ..." "$lockkeeper" forget h2
says_it 125 "this host knows no user '...'" list --user nosuchuser
nobody 125 "no access to the router at '...': permission denied" \
    "$work/bin/lockkeeper" list --endpoint "ipc://$LOCKKEEPER_SANDBOX/h1/router"
#   barred TEXT GROUP MODE IDS...: who has these gets that advice.
barred_verb=(125 list)
barred () {
    local text=$1
    chgrp "$2" "$LOCKKEEPER_SANDBOX/h1/router" &&
        chmod "$3" "$LOCKKEEPER_SANDBOX/h1/router" || return 1
    shift 3
    says "${barred_verb[0]}" "$text" setpriv "$@" --clear-groups \
        "$work/bin/lockkeeper" "${barred_verb[@]:1}" \
        --endpoint "ipc://$LOCKKEEPER_SANDBOX/h1/router"
}
if [ "$(id -u)" = 0 ]; then
    user=$(id -un 65534) group=$(getent group 33 | cut -d : -f 1)
    mode=$(stat -c %a "$LOCKKEEPER_SANDBOX/h1/router")
    check 'barred: user, group and what to do' barred "user '$user' is not in \
its group '$group': as root \`usermod -aG $group $user\`, then log in" \
        33 660 --reuid 65534 --regid 65534
    check 'barred: who is in the group by now' barred \
        "user '$user' is in its group '$(id -gn 65534)' by now: log in anew" \
        "$(id -g 65534)" 660 --reuid 65534 --regid 33
    check 'barred: not into the group of root' barred \
        "user '$user' needs a group that may: set router/group" \
        0 660 --reuid 65534 --regid 65534
    check 'barred: a group that may not' barred \
        "user '$user' needs a group that may: set router/group" \
        33 600 --reuid 65534 --regid 33
    barred_verb=(124 wait-ready --timeout 0.2)
    check 'barred: who waits is told so, too' barred \
        "user '$user' needs a group that may: set router/group" \
        33 600 --reuid 65534 --regid 33
    barred_verb=(125 list)
    check 'barred: a user without a name' barred \
        "user '77777' is not in its group '$group'" \
        33 660 --reuid 77777 --regid 77777
    chmod 700 "$LOCKKEEPER_SANDBOX/h1"
    check 'barred: a folder' barred "user '$user' may not enter its folder" \
        0 660 --reuid 65534 --regid 65534
    chmod 755 "$LOCKKEEPER_SANDBOX/h1"
    chmod "$mode" "$LOCKKEEPER_SANDBOX/h1/router"
fi
#   Its process has another number there than the router sees.
if unshare -pf true 2>/dev/null; then
    check 'the router refused: ...' met lockkeeper.1 125 \
        'the router refused: ...' unshare -pf "$lockkeeper" list
else
    unmet lockkeeper.1 'the router refused: ...'
fi

#   ------------------------------------------------------------ holding

start_on h1 run held -- sleep 1000
holder=$!
await is_listed '^held' held
says_it 124 "did not get '...': somebody else holds it" \
    run held --wait 0 -- true
#   held_says CODE ITEM COMMAND...: as says_it; but the leaders may be missed
#   just then, which is another reason, and told.
held_says () {
    says_held () {
        met "$@" || { grep -q 'cannot be had here now' "$work/stderr" &&
            "$lockkeeper" wait-ready --timeout 90 >/dev/null && met "$@"; }
    }
    check "$2" says_held lockkeeper.1 "$1" "$2" "$lockkeeper" "${@:3}"
}
held_says 124 "did not get '...' in time;" run held --wait 0.2 -- true
held_says 9 "did not get '...' in time;" \
    run held --wait 0.2 --on-busy 9 -- true
says_it 0 "'...' is static: it stays until it is unlocked, but is gone \
when all leaders are down at once, as in a power failure" \
    run x -- sh -c '"$BUILD/lockkeeper" lock rock --static >/dev/null'
says_it 124 "'...' is held by process ..., which started this one" \
    run nested -- "$lockkeeper" run nested --wait 3 -- true
says_it 125 "did not get '...': ..." run --all a a -- true
says_it 1 "did not unlock '...': nobody holds it" unlock nothing 12
says_it 1 "did not unlock '...': nobody holds it" \
    unlock nothing --force --reason test
says_it 125 "did not unlock '...': ..." \
    unlock held --force --reason "$(printf '%0300d' 1)"
says_it 125 "cannot check '...': ..." \
    check x 1 --context "$(printf '%0300d' 1)"
says_it 1 "cannot take over '...': no such lock with that key" \
    lock held --key 123
says_it 127 "cannot run '...': no such file or directory" run x -- "$work/no"
says_it 126 "cannot run '...': permission denied" run x -- "$work/file"
says_it 122 "lost '...': its --duration is over" \
    run x --duration 0.2 -- sleep 5
kill $holder
wait $holder

#   lose ITEM COMMAND...: somebody holds "lost" while the command is run.
lose () {
    local item=$1
    shift
    rm -f "$work/key"
    # shellcheck disable=SC2016
    start_on h2 run lost -- sh -c 'echo "$LOCKKEEPER_KEY" >"$1"; sleep 1000' \
        sh "$work/key" >"$work/lost.out" 2>"$work/lost.err"
    holder=$!
    await test -s "$work/key"
    await is_listed '^held' lost
    "$@"
    wait $holder
    # shellcheck disable=SC2016
    check "$item" met lockkeeper.1 122 "$item" sh -c 'cat "$1" >&2; exit $2' \
        sh "$work/lost.err" $?
}
lose "lost '...': an operator took the lock away: ..." \
    "$lockkeeper" unlock lost --force --reason 'it is late'
# shellcheck disable=SC2317
by_key () {
    on h1 unlock lost "$(cat "$work/key")"
}
lose "lost '...': somebody else released it with its key" by_key
says_it 1 "this shell holds no unit of '...'" release u 1 1 --pid $$
says_it 125 "there is no process ..." acquire u 1 1 --pid 4194303
says_it 125 'cannot wait for the end of process ...' lock x --pid 4194303

#   agent of a shell of its own: its process is stopped, or not ours.
agent_address () {
    grep -o "@lockkeeper/$(id -u)/$1/.*" /proc/net/unix | head -n 1
}
#   Of the sockets of that name one may be a connection that just ends.
find_agent () {
    local inode
    inode=$(awk -v name="$(agent_address "$1")" '$8 == name { print $7 }' \
        /proc/net/unix | head -n 1)
    agent=$(find /proc/[0-9]*/fd -lname "socket:\[$inode\]" 2>/dev/null |
        cut -d / -f 3 | head -n 1)
    [ -n "$agent" ]
}
sleep 300 &
owner=$!
"$lockkeeper" acquire u 5 1 --pid $owner >/dev/null
await find_agent $owner
kill -STOP "$agent"
begin stopped acquire u 5 1 --pid $owner

#   ------------------------------------------------------------ run, its guard

#   hurt_run SIGNAL SECONDS: a run whose process or guard gets that; which is
#   over then.
hurt_run () {
    local run
    rm -f "$work/runs"
    begin guarded run guarded -- sh -c "echo >'$work/runs'; exec sleep 1000"
    run=${begun[guarded]}
    await test -s "$work/runs"
    if [ "$1" = STOP ]; then
        kill -STOP "$run"
        sleep "$2"
        kill -CONT "$run"
    else
        kill -KILL "$(pgrep -P "$run" -x lk-guard ||
            pgrep -P "$run" | head -n 1)"
    fi
    await ended_by_now "$run" || kill -KILL "$run"
}
ended_by_now () {
    ! kill -0 "$1" 2>/dev/null || grep -q '^[0-9]* ([^)]*) Z' "/proc/$1/stat"
}

#   guarded SIGNAL SECONDS ITEM: and says so. If this host was cut off just
#   then, the lock is lost besides, with another code: begun anew.
guarded () {
    hurt_run "$1" "$2"
    while grep -q 'lost touch with the leaders' "$work/guarded.err"; do
        "$lockkeeper" wait-ready --timeout 90 >/dev/null || break
        hurt_run "$1" "$2"
    done
    ended 125 "$3" guarded
}
guarded KILL 0 \
    'the command was killed: its guard was killed, or stopped for too long'
guarded STOP 10 \
    'the command was ended: lockkeeper was stopped for too long to guard it'

#   ------------------------------------------------------------ members

says_it 125 "--cluster and --token-above are for 'recover'" \
    cluster members --cluster c
says_it 1 'nothing is begun: ...' cluster recover
#   Of a majority that is lost, in cli_recover.
unmet lockkeeper.1 'nothing is begun: --cluster NAME does it'
says_it 1 "cannot add '...': no lock service of that name is heard" \
    cluster add h9 --wait 1
says_it 1 "cannot remove '...': there is no member of that name" \
    cluster remove h9

says_it 125 "the lock service of host '...' does not answer that: ..." leave h9

#   ------------------------------------------------------------ restored

says_it 125 "cannot open '...': no such file or directory" restore "$work/none"
says_it 125 "'...' cannot be restored: ..." restore "$work/file"

#   ------------------------------------------------------------ settings

says_it 1 "'...' is not set" settings get settings/lock
says_it 0 'nothing was changed' settings edit /dev/null
printf '%s\n' settings '    look = h1' >"$work/text"
says_it 1 "line ...: there is no setting '...'" settings edit "$work/text"
printf '%s\n' settings '    lock = "a b"' >"$work/text"
says_it 1 "line ...: '...' needs ..." settings edit "$work/text"
#   keyed_settings ITEM HOST...: with keys of these, from the first on.
keyed_settings () {
    local item=$1 host i=1000
    shift
    echo router >"$work/text"
    for host; do
        printf '    key = "%s %036d%d"\n' "$host" 0 $i >>"$work/text"
        [ "$host" = twice ] || i=$((i + 1))
    done
    says_it 1 "$item" settings edit "$work/text"
}
keyed_settings "'router/key' has the key of '...' twice" twice h2
keyed_settings "'router/key' has more than ... keys of '...'" h1 h1 h1
keyed_settings "'...' has more than ... ..." h{1..141}
#   arbiter_settings ITEM NAME...: with h2's key, that a host and arbiters have.
arbiter_settings () {
    local item=$1 name i=1000
    shift
    printf 'router\n    key = "h2 %036d%d"\nhosts\n' 0 $i >"$work/text"
    for name; do
        i=$((i + 1))
        printf '    arbiter = "%s 10.0.0.7:%d %036d%d"\n' "$name" $i 0 $i \
            >>"$work/text"
    done
    says_it 1 "$item" settings edit "$work/text"
}
arbiter_settings "'hosts/arbiter' has '...' twice" a1 a1
arbiter_settings "the name or the key of arbiter '...' is that of a host of \
'router/key'" a1 h2
printf '%s\n' settings '      lock = h1' >"$work/text"
says_it 1 'line ...: ...' settings edit "$work/text"
says_it 1 'the settings stay as they are: ...' settings set settings/lock h7
says_it 124 \
    'the settings were not changed in time: ...; it may still happen' \
    settings set settings/lock h1 --wait 0
head -c 70000 /dev/zero | tr '\0' '#' >"$work/text"
says_it 125 "'...' is longer than 65535 bytes" settings edit "$work/text"
printf 'a\0b' >"$work/text"
says_it 125 "'...' is no text" settings edit "$work/text"
it_says 125 "'...' has failed: nothing is changed" \
    env VISUAL=false "$lockkeeper" settings edit
#   Behind the reason; and of a host whose disk was damaged, in cli_settings.
unmet lockkeeper.1 "what was written is kept in '...'"
unmet lockkeeper.1 \
    "host '...' lacks the settings: it fetches them from another one"

#   ------------------------------------------------------------ a first member

member () {
    local item=$1
    shift
    says_it 125 "$item" init --state "$work/init" "$@"
}
member "'...' is no name of a cluster" --cluster 'a b' --members h1 --host h1
member "'...' in --members is no name of a host" \
    --cluster c --members 'h 1' --host h1
member "this host, '...', is not among the members" \
    --cluster c --members h1,h2 --host h3
member "--members has '...' twice" --cluster c --members h1,h1 --host h1
member '--members has more than ... hosts' --cluster c --host h1 \
    --members "$(seq -s, 1 16)"
says_it 125 "cannot make '...': ..." \
    init --cluster c --members h1 --host h1 --state "$work/file/state"
"$lockkeeper" init --cluster c --state "$work/init" --members h1 --host h1 \
    >/dev/null
member "'...' is there already" --cluster c --members h1 --host h1
says_it 125 "'...' is in use by another process" init --cluster c \
    --members h1 --host h1 --state "$LOCKKEEPER_SANDBOX/h1"
if unshare -u true 2>/dev/null; then
    check 'no name' met lockkeeper.1 125 \
        'this machine has no name: say --host NAME' \
        unshare -u /usr/bin/python3 -c '
import os, socket, sys
socket.sethostname("")
os.execv(sys.argv[1], sys.argv[1:])' "$lockkeeper" init --cluster c --members h1
else
    unmet lockkeeper.1 'this machine has no name: say --host NAME'
fi

#   ------------------------------------------------------------ init

#   config NAME LINES...: a file for a host that is not made yet.
config () {
    mkdir -p "$work/$1"
    cat >"$work/$1/conf" <<end
router
    identity = "$work/$1/state/identity"
    endpoint = "ipc://$work/$1/router"
$(printf '%s\n' "${@:2}")
lock
    state = "$work/$1/state"
    run = "$work/$1"
end
}
init () {
    local wanted=$1 item=$2 host=$3
    shift 3
    says_it "$wanted" "$item" init --config "$work/$host/conf" "$@"
}
config a
init 125 '... is missing, and there is no terminal to ask' a --first
init 125 "'...' is no address: HOST:PORT" a --join 'a b' --host a
init 125 "'...' is no address of this host" a --first --cluster c --host a \
    --address 192.0.2.7
mapfile -t many < <(seq -f 192.0.2.%g 1 70)
init 125 'more than ... neighbours' a --host a --address 127.0.0.1 \
    --unseen --join "${many[@]}"
#   asked ITEM TEXT ANSWERS...: at a terminal.
asked () {
    local item=$1 text=$2
    shift 2
    printf '%s\n' "$@" >"$work/answers"
    check "$item" met lockkeeper.1 125 "$item" at_terminal "$work/answers" \
        "'$lockkeeper' init --config '$work/a/conf'" "$text"
}
asked "'first' or 'join', not '...'" 'or .join., not' maybe
asked 'the address of one of its hosts is needed' 'is needed' join ''
asked 'nothing was written' 'nothing was' join
init 125 "no router at '...': ...; ..." a --host a --address 127.0.0.1 \
    --join 127.0.0.1:1
init 125 "'...' is the address of this host: --join needs that of one" a \
    --host a --address 127.0.0.1 --join 127.0.0.1
h1_port=$(sed -n 's/.*down -> up.*address=127.0.0.1:\([0-9]*\) .*/\1/p' \
    "$LOCKKEEPER_SANDBOX/h1/router.log")
init 125 "a host '...' is there already, at '...'" a --host h1 \
    --address 127.0.0.1 --join "127.0.0.1:$h1_port"
says_it 125 "'...' is there already" keys make "$work"
config keyed "    keys = \"$work/keyed/keys\"" '    host = keyed' \
    '    address = "127.0.0.1:*"'
#   keyed MODE ITEM: with what is on standard input for its keys.
keyed () {
    install -m "$1" /dev/stdin "$work/keyed/keys"
    init 125 "$2" keyed --first --cluster keyed
}
keyed 600 "'...' has no pair of keys" </dev/null
keyed 600 "'...', line ..., is no pair of keys" <<<'nonsense'
keyed 644 "others may read '...'" </dev/null
true >"$work/keyed/ticket"
init 125 "'...' is no invitation" keyed --join \
    --invitation "$work/keyed/ticket"
echo nonsense >"$work/keyed/ticket"
init 125 "'...', line ..., is of no invitation" keyed --join \
    --invitation "$work/keyed/ticket"
init 125 '--invitation is for --join, which looks' keyed --first \
    --invitation "$work/keyed/ticket"
init 125 '--plain is for --first' keyed --join 127.0.0.1 --plain
says_it 125 'keys are not changed: ...' keys rotate
says_it 125 'nobody is invited: ...' invite
#   To one who has no keys.
"$lockkeeper" keys make "$work/keyed/made" >/dev/null
cat >"$work/keyed/ticket" <<end
invitation
    address = "127.0.0.1:$h1_port"
    server-key = "$(sed -n 's/.*public-key = "\(.*\)"/\1/p' \
    "$work/keyed/made")"
    secret-key = "$(sed -n 's/.*secret-key = "\(.*\)"/\1/p' \
    "$work/keyed/made")"
end
init 125 "cannot join by '...': ...; ask for another invitation" keyed --join \
    --invitation "$work/keyed/ticket"
says_it 1 'that is this host itself' forget h1
#   In keys.sh.
unmet lockkeeper.1 'there is no former key to withdraw' \
    "host '...' has no key of its own: \`lockkeeper keys rotate\` there first, \
or forget it" \
    "host '...' is not connected, and could not come back: wait for it, or \
forget it"
#   In cli_init.sh, with several clusters; and of a router of before.
unmet lockkeeper.1 \
    "this host served cluster '...' as a proxy, and that is cluster '...'" \
    'there are more: this is what one answer has room for' \
    "'...' is of cluster '...', another address of cluster '...'"
config b '    host = h7'
init 125 "the configuration says that this is host '...', not '...'" b \
    --first --cluster c --host h8 --address 127.0.0.1
config c
"$lockkeeper" init --first --cluster c --host c --address 127.0.0.1 \
    --config "$work/c/conf" >/dev/null
init 125 "'...' says that this is host '...', not '...'" c --first \
    --cluster c --host d --address 127.0.0.1
init 125 "this host is a member of cluster '...' already" c --first \
    --cluster d --host c --address 127.0.0.1
"$lockkeeper" backup "$work/backup" >/dev/null 2>&1
says_it 1 "this host is a member of cluster '...' already, and the backup is \
of cluster '...'" restore "$work/backup" --config "$work/c/conf"
config d
mkdir "$work/d/conf.d"
printf 'router\n    neighbour = "192.0.2.7:1"\n' >"$work/d/conf.d/a.conf"
init 125 "'...', line ..., has neighbours" d --unseen --join 192.0.2.8 \
    --host d --address 127.0.0.1
config e
sed -i "s#state = .*#state = \"$work/file/state\"#" "$work/e/conf"
init 125 "cannot make the folder '...': ..." e --first --cluster c --host e \
    --address 127.0.0.1
config f
if [ "$(id -u)" = 0 ]; then
    mkdir -m 700 "$work/f/state"
    chown 65534 "$work/f/state"
    check 'owner' met lockkeeper.1 125 "cannot open '...': ..." \
        setpriv --bounding-set=-chown --inh-caps=-chown "$lockkeeper" init \
        --first --cluster c --host f --address 127.0.0.1 \
        --config "$work/f/conf"
    config g '    host = g'
    mkdir -m 700 "$work/g/state"
    chmod 755 "$work/g"
    chmod 644 "$work/g/conf"
fi
nobody 125 "cannot read '...': run this as root" "$work/bin/lockkeeper" \
    init --first --cluster c --host g --address 127.0.0.1 \
    --config "$work/g/conf"
nobody 125 "cannot open '...': permission denied" "$work/bin/lockkeeper" \
    config get --config "$work/locked/conf"

#   ------------------------------------------------------------ config, decode

says_it 1 'not set: ...' config set router/dead-after 1 \
    --config "$work/a/conf"
says_it 1 "'...' has both kinds of quotes, or ends of lines" \
    config set router/group "a'b\"c" --config "$work/a/conf"
says_it 125 "cannot read '...': ..." decode "$work/none"
echo nonsense >"$work/frame"
says_it 125 'cannot read the frame from byte ... on: ...' decode "$work/frame"
grep -xE '([0-9a-f]{2,4} ?)+' "$pages/../tests/vectors/app-lock.txt" |
    sed '0,/7b/s//5b/' >"$work/frame"
says_it 125 'cannot read the body: ...' decode "$work/frame"
says_it 125 "cannot open '...': no such file or directory" \
    config get --config "$work/none"

#   ------------------------------------------------------------ sandbox

says_it 125 "cannot make '...': ...; --dir DIR takes one that is not there or \
empty" sandbox --dir "$work" -- true
says_it 125 "the path '...' is too long for a socket's" \
    sandbox --dir "$work/$(printf '%0100d' 1)" -- true
says_it 125 "cannot reach a sandbox in '...'" sandbox restart h1 --dir "$work"
says_it 125 "cannot restart '...': ..." sandbox restart h7
says_it 125 'the ... of ... does not run' sandbox --set lock/grace=soon -- true
begin unready sandbox --hosts 1 --set lock/hosts-min=2 -- true
#   boxed ITEM: another sandbox says so.
boxed () {
    check "$1" logged lockkeeper.1 "$1" "$work/box.err" ''
}
"$lockkeeper" sandbox --hosts 1 --dir "$work/box" >"$work/box.out" \
    2>"$work/box.err" &
box=$!
await test -s "$work/box.out"
kill -9 "$(cat "$work/box/h1/lockd.pid")"
boxed 'the ... of ... was ended by signal ...'
kill -TERM "$(cat "$work/box/h1/router.pid")"
boxed 'the ... of ... ended with code ...'
rm "$work/box/h1/router.log"
mkdir "$work/box/h1/router.log"
"$lockkeeper" sandbox restart h1 router --dir "$work/box" >"$work/out" 2>&1
boxed 'cannot start the ... of ...: ...'
kill $box
wait $box

#   ------------------------------------------------------------ limits

#   few N ITEM ARGUMENTS...: with so many descriptors.
few () {
    local count=$1 item=$2
    shift 2
    check "$item" met lockkeeper.1 125 "$item" \
        prlimit --nofile="$count" "$lockkeeper" "$@"
}
few 4 'cannot make an epoll descriptor: ...' run x -- true
few 4 'cannot start an agent: ...' acquire u 1 1
# shellcheck disable=SC2016
check 'cannot make a pipe' met lockkeeper.1 125 'cannot make a pipe: ...' \
    sh -c 'exec prlimit --nofile=4 "$@" >/dev/null' \
    sh "$lockkeeper" lock x --background
# shellcheck disable=SC2016
nobody 125 'cannot fork: ...' prlimit --nproc=0 sh -c 'exec "$@" >/dev/null' \
    sh "$work/bin/lockkeeper" lock x --background
chmod o+rw "$LOCKKEEPER_SANDBOX/h1/router"
#   It and libzmq's two threads, and no more of a user who has nothing else.
as_nobody=(setpriv --reuid $((50000 + $$ % 10000)) --regid 65534 --clear-groups)
nobody 125 'cannot start a guard: ...' prlimit --nproc=3 \
    "$work/bin/lockkeeper" run x \
    --endpoint "ipc://$LOCKKEEPER_SANDBOX/h1/router" -- true
chmod o-rw "$LOCKKEEPER_SANDBOX/h1/router"
#   No port of tens of thousands; who can load all libraries has a descriptor
#   left; the control of a sandbox is the first thing in a folder of its own.
unmet lockkeeper.1 'found no free port on 127.0.0.1' \
    'cannot watch signals: ...' "cannot listen at '...': ..."
#   The lease may be over before it gives up: then the unit was lost.
unmet lockkeeper.1 "did not release a unit of '...': ..."
check 'cannot write to stdout' met lockkeeper.1 125 \
    'cannot write to stdout: no space left on device' \
    sh -c '"$1" help >/dev/full' sh "$lockkeeper"

if mkdir "$work/full" && mount -t tmpfs -o size=4k none "$work/full" \
    2>/dev/null; then
    head -c 4096 /dev/zero >"$work/full/file"
    says_it 125 "cannot write '...': no space left on device" \
        init --cluster c --members h1 --host h1 --state "$work/full"
    check 'nothing is left' test ! -e "$work/full/lock.state.new"
    umount "$work/full"
else
    unmet lockkeeper.1 "cannot write '...': no space left on device"
fi
: >"$work/empty"
#   Who has a session has a descriptor left.
unmet lockkeeper.1 'cannot use the terminal: ...'
ended 124 'our agent, process ..., does not answer' stopped
ended 125 '... does not get ready within ... s: ...' unready
kill -CONT "$agent"
if [ "$(id -u)" = 0 ]; then
    address=$(agent_address $owner)
    kill -9 "$agent"
    await sh -c "! grep -q '$address' /proc/net/unix"
    "${as_nobody[@]}" /usr/bin/python3 -c '
import socket, sys, time
taken = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
taken.bind("\0" + sys.argv[1][1:])
taken.listen()
print("taken", flush=True)
time.sleep(100)' "$address" >"$work/taken" &
    taken=$!
    await test -s "$work/taken"
    says_it 125 'another user has taken the address of our agent' \
        acquire u 5 1 --pid $owner
    kill $taken
else
    unmet lockkeeper.1 'another user has taken the address of our agent'
fi

#   ------------------------------------------------------------ silence

first=$("$lockkeeper" cluster members --json |
    sed -n 's/.*"host":"\([^"]*\)".*"first leader".*/\1/p')
other=h1
[ "$first" != h1 ] || other=h2
others=()
for host in h1 h2 h3; do
    [ $host = $other ] || others+=("$(pid_of $host lockd)")
done
eval "other=\$LOCKKEEPER_ENDPOINT_$other"
kill -STOP "${others[@]}" # nobody is elected in its place
it_says 0 "the first leader, '...', does not answer" \
    "$lockkeeper" cluster members --endpoint "$other"
kill -CONT "${others[@]}"
"$BUILD/lockkeeper-router" --host lone --listen 'tcp://127.0.0.1:*' \
    --endpoint "ipc://$work/lone" 2>"$work/lone.log" &
lone=$!
"$BUILD/lockkeeper-lockd" --endpoint "ipc://$work/lone" --run "$work/run" \
    --state "$work/state" 2>"$work/lone.lockd" &
lone="$lone $!"
none_heard='no member of a cluster was heard yet'
await says 1 "$none_heard" \
    "$lockkeeper" cluster members --endpoint "ipc://$work/lone"
says_it 1 "$none_heard" cluster members --endpoint "ipc://$work/lone"
says_it 1 'no leader has the list now' list --endpoint "ipc://$work/lone"
# shellcheck disable=SC2086
kill $lone

# shellcheck source=tests/cluster/errors_far_tap.sh
. "$(dirname "$0")/errors_far_tap.sh"
# shellcheck source=tests/cluster/errors_zones_tap.sh
. "$(dirname "$0")/errors_zones_tap.sh"

#   ------------------------------------------------------------ no quorum

"$lockkeeper" wait-ready --timeout 90 >/dev/null
"$lockkeeper" acquire lost.unit 5 1 --pid $owner >/dev/null
"$lockkeeper" acquire kept.unit 5 1 --pid $owner >/dev/null
start_on h1 run lost -- sh -c "echo >'$work/works'; exec sleep 1000" \
    2>"$work/lost.err"
holder=$!
check 'held, and told so' await test -e "$work/works"
kill -9 "$(pid_of h2 lockd)" "$(pid_of h3 lockd)"
not_now="in time, locks cannot be had here now: sees ... of ... members"
check 'no quorum is seen' await says 1 'sees 1 of 3' on h1 status
says_it 124 "did not get '...' $not_now" run x --wait 0.2 -- true
says_it 124 "did not unlock '...' in time" unlock x 1 --wait 0.2
it_says 124 'locks cannot be had after ... s: ...' \
    "$lockkeeper" wait-ready --timeout 0.2
it_says 124 'the cluster is not full after ... s: ...' \
    "$lockkeeper" wait-ready --full --timeout 0.2
says_it 124 "did not ... '...' in time: ..." cluster remove h3 --wait 1
says_it 1 'it cannot leave: ...' leave
says_it 124 "host '...' still leads after ... s" leave --force --wait 0.2
#   As a home, h1 may answer while its lease holds.
check 'its lease is over' await \
    says 124 "did not check 'x' in time" on h1 check x 1 --wait 0.2
says_it 124 "did not check '...' in time" check x 1 --wait 0.2
wait $holder
# shellcheck disable=SC2016
check 'isolated' met lockkeeper.1 122 \
    "lost '...': this host lost touch with the leaders" \
    sh -c 'cat "$1" >&2; exit $2' sh "$work/lost.err" $?
says_it 122 "a unit of '...' was lost: ..." \
    release lost.unit 5 1 --pid $owner
says_it 124 "did not get a unit of '...': ..." acquire u 5 1 --pid $owner
kill -STOP "$(pid_of h1 lockd)"
says_it 124 'no lock service answers' list
says_it 124 'the lock service of this host does not answer' cluster members
kill -9 "$(pid_of h1 lockd)"
says_it 125 '...; is lockkeeper-lockd running on this host?' cluster members
says_it 125 \
    'the list cannot be had: ...; is lockkeeper-lockd running on this host?' \
    list
not_now="in time, locks cannot be had here now: no service 'lock' on host '...'"
says_it 124 "did not get '...' $not_now" run x --wait 0.2 -- true

kill $owner
all_met lockkeeper.1
done_checking
