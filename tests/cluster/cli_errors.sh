#!/bin/bash
#   cli_errors.sh - errors that people meet: provoked, and told as in the pages
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Each has its exit code, nothing on stdout, and a first line on stderr that
#   begins with an item of DIAGNOSTICS, Errors, in its page, in which "..."
#   stands for anything; and each such item is met here.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
pages=$(cd "$(dirname "$0")/../../man" && pwd) || exit 1
in_sandbox "$0" --hosts 3 --set lock/dead-after=300 \
    --set lock/leader-lease=700 --set lock/host-lease=3000

items () {
    sed -n '/^\.Ss Errors/,/^\.S[hs] [^E]/s/^\.It //p' "$pages/$1" |
        sed 's/ Ns / /g; s/\\&//g; s/ -width Ds//'
}
: >"$work/met"

#   met PAGE CODE ITEM COMMAND...
met () {
    local page=$1 wanted=$2 item=$3 pattern line got
    shift 3
    echo "$page $item" >>"$work/met"
    items "$page" | grep -qxF -- "$item" || {
        echo "not in the page: $item"
        return 1
    }
    timeout 30 "$@" >"$work/stdout" 2>"$work/stderr"
    got=$?
    [ "$got" = "$wanted" ] || {
        echo "exit code $got, not $wanted"
        cat "$work/stdout" "$work/stderr"
        return 1
    }
    [ ! -s "$work/stdout" ] || {
        echo 'on stdout:'
        cat "$work/stdout"
        return 1
    }
    line=$(head -n 1 "$work/stderr" | sed -E 's/^20[-0-9T:.Z]+ //')
    pattern=${item//\\/\\\\}
    pattern=${pattern//[/\\[}
    pattern=${pattern//\*/\\*}
    pattern=${pattern//.../*}
    line=${line#lockkeeper*: }
    # shellcheck disable=SC2053
    [[ ${line#error: } == $pattern* ]] || {
        echo "not as in the page: $line"
        return 1
    }
}

#   says_it CODE ITEM ARGUMENTS...: of lockkeeper(1). router, lockd: likewise.
says_it () {
    local wanted=$1 item=$2
    shift 2
    check "$item" met lockkeeper.1 "$wanted" "$item" "$lockkeeper" "$@"
}
router () {
    local wanted=$1 item=$2
    shift 2
    check "router: $item" met lockkeeper-router.8 "$wanted" "$item" \
        "$BUILD/lockkeeper-router" --host h9 --listen 'tcp://127.0.0.1:*' \
        --endpoint "ipc://$work/none/router" "$@"
}
lockd () {
    local wanted=$1 item=$2
    shift 2
    check "lockd: $item" met lockkeeper-lockd.8 "$wanted" "$item" \
        "$BUILD/lockkeeper-lockd" --run "$work/run" --state "$work/state" \
        --endpoint "$LOCKKEEPER_ENDPOINT" "$@"
}
pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$2.pid"
}
mkdir "$work/run" "$work/state"
none=ipc://$work/none/router

#   ------------------------------------------------------------ usage

says_it 125 "there is no verb '...'" frobnicate
says_it 125 "there is no verb '...'" help frobnicate
says_it 125 "'...' is no option of '...'" run x --frob -- true
says_it 125 "option '...' needs a value" run x --wait
says_it 125 "--... needs ..., not '...'" run x --wait soon -- true
says_it 125 "'...' needs ..." run x
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
kill -CONT "$(pid_of h3 router)"
if [ "$(id -u)" = 0 ]; then
    #   others: as the user of nothing, with programs that it may read.
    mkdir "$work/bin" "$work/locked"
    cp "$BUILD"/lockkeeper* "$work/bin/"
    chmod 755 "$work" "$work/bin" "$LOCKKEEPER_SANDBOX" \
        "$LOCKKEEPER_SANDBOX/h1"
    chmod 700 "$work/locked"
    nobody () {
        local page=$1 wanted=$2 item=$3 program=$4
        shift 4
        check "another user: $item" met "$page" "$wanted" "$item" \
            setpriv --reuid 65534 --regid 65534 --clear-groups \
            "$work/bin/$program" "$@"
    }
    nobody lockkeeper.1 125 \
        "no access to the router at '...': permission denied" \
        lockkeeper list --endpoint "ipc://$LOCKKEEPER_SANDBOX/h1/router"
    nobody lockkeeper-router.8 1 "cannot bind '...': permission denied" \
        lockkeeper-router --host h9 --endpoint "ipc://$work/locked/router" \
        --listen 'tcp://127.0.0.1:*'
    nobody lockkeeper-lockd.8 1 "cannot write to '...', as user ..." \
        lockkeeper-lockd --run "$work/run" --state "$work/state"
else
    echo "lockkeeper.1 no access to the router at '...': permission denied
lockkeeper-router.8 cannot bind '...': permission denied
lockkeeper-lockd.8 cannot write to '...', as user ..." >>"$work/met"
fi

#   ------------------------------------------------------------ holding

start_on h1 run held -- sleep 100
holder=$!
within 5 is_listed '^held' held
says_it 124 "did not get '...': somebody else holds it" \
    run held --wait 0 -- true
says_it 124 "did not get '...' in time; " run held --wait 0.2 -- true
says_it 9 "did not get '...' in time; " \
    run held --wait 0.2 --on-busy 9 -- true
says_it 125 "did not get '...': ..." run --all a a -- true
says_it 1 "did not unlock '...': nobody holds it" unlock nothing 12
says_it 1 "did not unlock '...': nobody holds it" \
    unlock nothing --force --reason test
says_it 125 "did not unlock '...': ..." \
    unlock held --force --reason "$(printf '%0300d' 1)"
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
    start_on h2 run lost -- sh -c 'echo "$LOCKKEEPER_KEY" >"$1"; sleep 100' \
        sh "$work/key" >"$work/lost.out" 2>"$work/lost.err"
    holder=$!
    within 5 is_listed '^held' lost
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
    within 5 test -s "$work/key"
    on h1 unlock lost "$(cat "$work/key")"
}
lose "lost '...': somebody else released it with its key" by_key
says_it 1 "this shell holds no unit of '...'" release u 1 1 --pid $$
says_it 125 "there is no process ..." acquire u 1 1 --pid 4194303
says_it 125 'cannot wait for the end of process ...' lock x --pid 4194303

#   ------------------------------------------------------------ members

says_it 1 "cannot add '...': no lock service of that name is heard" \
    cluster add h9 --wait 1
says_it 1 "cannot remove '...': there is no member of that name" \
    cluster remove h9
init () {
    local item=$1
    shift
    says_it 125 "$item" init --cluster c --state "$work/init" "$@"
}
init "this host, '...', is not among the members" --members h1,h2 --host h3
init "--members has '...' twice" --members h1,h1 --host h1
"$lockkeeper" init --cluster c --state "$work/init" --members h1 --host h1 \
    >/dev/null
init "'...' is there already" --members h1 --host h1
says_it 125 "cannot reach a sandbox in '...'" sandbox restart h1 --dir "$work"
says_it 125 'the ... of ... does not run' sandbox --set lock/grace=soon -- true
check 'cannot write to stdout' met lockkeeper.1 125 \
    'cannot write to stdout: no space left on device' \
    sh -c '"$1" help >/dev/full' sh "$lockkeeper"

#   ------------------------------------------------------------ daemons

router 2 "there is no option '...'" --frob
router 2 "option '...' needs a value" --group
router 2 "'...' is no value for '...': ..." --dead-after 1
router 2 "cannot open '...': ..." --config "$work/none"
printf 'router\n    frob = 1\n' >"$work/conf"
router 2 "'...', line ...: ..." --config "$work/conf"
router 1 "cannot bind '...': there is no folder '...'"
router 1 "there is no group '...'" --group nosuchgroup \
    --endpoint "ipc://$work/router"
router 2 "there is no plug-in '...'" --plugin nothing
router 1 "cannot bind '...': there is a file that is no socket" \
    --endpoint "ipc://$work/file"
router 1 "cannot bind '...': another process serves it" \
    --endpoint "$LOCKKEEPER_ENDPOINT"
port=$(on h1 status | sed -n 's/.* at 127.0.0.1:\([0-9]*\).*/\1/p')
router 1 "cannot bind '...': address already in use" \
    --endpoint "ipc://$work/router" --listen "tcp://127.0.0.1:$port"
router 1 "cannot bind '...': cannot assign requested address" \
    --endpoint "ipc://$work/router" --listen tcp://192.0.2.1:7411
router 1 "'...' is no address to be dialled at" \
    --endpoint "ipc://$work/router" --listen 'tcp://*:*'
lockd 2 "'...' is no value for '...': ..." --leaders 2
lockd 2 "'...' is less than two times '...'" --leader-lease 1000
lockd 2 "'...' is not more than three times '...'" --host-lease 3000
lockd 1 "there is no folder '...'" --run "$work/none"
lockd 1 "'...' is in use by another process" \
    --state "$LOCKKEEPER_SANDBOX/h1"
echo garbage >"$work/state/lock.state"
lockd 1 "'...' makes no sense: ..."
rm "$work/state/lock.state"
if mkdir "$work/full" && mount -t tmpfs -o size=4k none "$work/full" \
    2>/dev/null; then
    head -c 4096 /dev/zero >"$work/full/file"
    says_it 125 "cannot write '...': no space left on device" \
        init --cluster c --members h1 --host h1 --state "$work/full"
    lockd 1 "cannot write '...': no space left on device" \
        --state "$work/full"
    umount "$work/full"
else
    echo "lockkeeper.1 cannot write '...': no space left on device
lockkeeper-lockd.8 cannot write '...': no space left on device" >>"$work/met"
fi

#   ------------------------------------------------------------ no quorum

start_on h1 run lost -- sleep 100 2>"$work/lost.err"
holder=$!
check 'held' within 5 is_listed '^held' lost
kill -9 "$(pid_of h2 lockd)" "$(pid_of h3 lockd)"
not_now="in time, locks cannot be had here now: sees ... of ... members"
check 'no quorum is seen' within 10 says 1 'sees 1 of 3' on h1 status
says_it 124 "did not get '...' $not_now" run x --wait 0.2 -- true
says_it 124 "did not unlock '...' in time" unlock x 1 --wait 0.2
#   As a home, h1 may answer while its lease holds.
check 'its lease is over' within 5 \
    says 124 "did not check 'x' in time" on h1 check x 1 --wait 0.2
says_it 124 "did not check '...' in time" check x 1 --wait 0.2
wait $holder
# shellcheck disable=SC2016
check 'isolated' met lockkeeper.1 122 \
    "lost '...': this host lost touch with the leaders" \
    sh -c 'cat "$1" >&2; exit $2' sh "$work/lost.err" $?
kill -9 "$(pid_of h1 lockd)"
not_now="in time, locks cannot be had here now: no service 'lock' on host '...'"
says_it 124 "did not get '...' $not_now" run x --wait 0.2 -- true

for page in lockkeeper.1 lockkeeper-router.8 lockkeeper-lockd.8; do
    items $page | sed "s/^/$page /"
done | sort >"$work/told"
check 'all that the pages have was met' sh -c "
    sort -u '$work/met' | comm -13 - '$work/told' | grep . && exit 1 || :"
done_checking
