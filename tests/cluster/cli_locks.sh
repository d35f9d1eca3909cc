#!/bin/bash
#   cli_locks.sh - lockkeeper(1) on a cluster of three, as a user would
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3

#   ------------------------------------------------------------ status, list

for host in h1 h2 h3; do
    check "$host is ready" code 0 on $host status
done
check 'status tells the leaders' says 0 'leaders' on h1 status
check 'status tells the home' says 0 'home' on h1 status --object x
#   "name pid kind version" of each; of ours here one.
one_service_per_line () {
    on h1 status | awk '
        /^locks/ { told = 0 }
        /^services/ { told = 1; sub ("^services", "") }
        told { lines++; if (NF != 4 || $2 + 0 == 0) { bad = 1; print } }
        END { exit bad || lines != 1 }'
}
check 'status tells the services, one per line' one_service_per_line
check 'status --json' says 0 '"ready":true' on h1 status --json
check 'nobody has anything' says 0 'nobody holds' on h1 list

two="ipc://$work/none, ipc://$LOCKKEEPER_SANDBOX/h2/router"
check 'of two endpoints the second may be it' says 0 ' h2 (router' \
    "$lockkeeper" status --endpoint "$two"
check 'for a session, too' code 0 "$lockkeeper" run x --endpoint "$two" -- true

page=$LOCKKEEPER_SANDBOX/h3/lock.lease
mv "$page" "$page.hidden"
check 'no lock without a sight of its lease' says 125 \
    "did not get 'x': cannot open '$page'" \
    on h3 run x -- true
mv "$page.hidden" "$page"
check 'what was granted was given back' code 0 on h2 run --wait 60 x -- true

#   ------------------------------------------------------------ run

check 'run: 0' code 0 on h1 run x -- true
check 'run: 1' code 1 on h2 run x -- false
check 'run: 7' code 7 on h3 run x -- sh -c 'exit 7'
#   As programs do that want no ends of children, and their children inherit.
ignoring () {
    LOCKKEEPER_ENDPOINT=$LOCKKEEPER_ENDPOINT_h3 timeout -k 1 90 python3 -c '
import os, signal, sys
signal.signal (signal.SIGCHLD, signal.SIG_IGN)
os.execv (sys.argv[1], sys.argv[1:])' "$lockkeeper" "$@"
}
check 'run: 7, where ends of children are ignored' \
    code 7 ignoring run x -- sh -c 'exit 7'
check 'lock --background fails there, too' \
    says 125 'cannot wait for the end' \
    ignoring lock x --background --pid 4194300
check 'lock: its key cannot be written' says 125 'cannot write to stdout' \
    bash -c "'$lockkeeper' lock full --background --pid $$ >/dev/full"
check 'so it is given back' code 0 on h2 run --wait 90 full -- true
check 'run: a signal' code 143 on h1 run x -- sh -c 'kill -TERM $$'
check 'run: no such command' says 127 'cannot run' on h1 run x -- /no/such
check 'run: not to be run' says 126 'cannot run' on h1 run x -- /etc/passwd
check 'run: standard input goes to the command' \
    test "$(echo hello | on h1 run x -- cat)" = hello
check 'run: its environment' on h1 run 'a name' -- sh -c '
    [ "$LOCKKEEPER_NAME" = "a name" ] && [ "${#LOCKKEEPER_KEY}" = 16 ] &&
    [ "$LOCKKEEPER_TOKEN" -gt 0 ]'
long=$(printf '%04096d' 7)
check 'run: a name of 4096 bytes' code 0 on h1 run "$long" -- true
check 'run: a longer name' says 125 '4096 bytes' on h1 run "${long}8" -- true
check 'run: no name' code 125 on h1 run '' -- true
check 'run: a name with anything' code 0 on h1 run $'\t"\\ \xc3\xa9 %s' -- true
check 'run: a name that is no text' on h1 run $'a\xff\e' -- sh -c '
    [ "$(printf "a\377\033")" = "$LOCKKEEPER_NAME" ] &&
    "$BUILD/lockkeeper" list | grep -F "a\xff\x1b"'

#   reports EXPRESSION RUN...: its last line on stderr is JSON of which the
#   expression (Python) is true, and `code` its exit code.
reports () {
    local expression=$1
    shift
    on h1 run --json "$@" >"$work/out2" 2>"$work/report"
    tail -n 1 "$work/report" | python3 -c 'import json, sys
it, code = json.load(sys.stdin), int(sys.argv[2])
print(it)
sys.exit(not (it["code"] == code and eval("(" + sys.argv[1] + ")")))' \
        "$expression" $?
}
check 'run --json: done' reports 'it["granted"] and not it["lost"]
    and it["object"] == "x" and it["token"] > 0 and code == 7
    and it["waited_ms"] >= 0 and it["held_ms"] >= 0 and "reason" not in it' \
    x -- sh -c 'exit 7'
check 'run --json: lost' reports 'it["granted"] and it["lost"] and code == 122
    and "duration is over" in it["reason"] and it["context"] == "c"' \
    x --context c --duration 0.2 -- sleep 20
check 'run --json: no such command' reports 'it["granted"] and code == 127
    and "no such file" in it["reason"]' x -- $'/no\xff'

#   The inner one would wait for the outer one. Whatever holds the lock, the
#   process that it is held for started it.
#   hinted COMMAND...: waits until there is a hint, and ends it. Who holds the
#   lock is asked once, and not waited for.
hinted () {
    local got=1 hang_s=10
    for _ in 1 2 3 4 5; do
        rm -f "$work/hint"
        start_on h1 "$@" 2>"$work/hint"
        await grep -q "^lockkeeper: 'nested' is held by process" "$work/hint"
        got=$?
        kill $!
        wait $!
        [ $got != 0 ] || break
    done
    return $got
}
check 'run in run: a hint' \
    hinted run nested -- "$lockkeeper" run nested -- true
check 'of sets, too' \
    hinted run --all first nested -- "$lockkeeper" lock nested
grant=$(on h1 lock nested --context c --background --pid $$)
eval "$grant"
check 'run under lock --background' hinted run nested --context c -- true
on h1 unlock nested "$key" --context c
start_on h1 run nested -- sleep 1000
holder=$!
await is_listed "^held" nested
check 'none if another process holds it' says 124 'did not get' \
    on h1 run nested --wait 2 -- true
check 'none at all' code 1 grep -qF 'is held by process' "$work/said"
kill $holder
wait $holder

#   Each reads, adds and writes: an overlap loses a count.
echo 0 >"$work/count"
count_up () {
    local _
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        on "$1" run counter -- sh -c '
            read -r n <"$1"; sleep 0.01; echo $((n + 1)) >"$1"
            echo "$LOCKKEEPER_TOKEN" >>"$1.tokens"' sh "$work/count" \
            || return 1
    done
}
for host in h1 h2 h3 h1; do
    count_up $host &
done
for job in $(jobs -p); do
    wait "$job"
done
check 'four times ten, one at a time' test "$(cat "$work/count")" = 40
check 'tokens only grow' sort -cnu "$work/count.tokens"

#   ------------------------------------------------------------ waiting

start_on h1 run busy -- sh -c "touch $work/has; until [ -e $work/end ]; do
    sleep 0.02; done"
holder=$!
await test -e "$work/has"
check 'held: --wait 0 does not queue' says 124 'somebody else' \
    on h2 run busy --wait 0 -- true
check 'held: --wait 0.0004 does queue' says 124 'in time' \
    on h2 run busy --wait 0.0004 -- true
began=$(now_ms)
check 'held: --wait 0.5' says 124 'in time' on h2 run busy --wait 0.5 -- true
took=$(($(now_ms) - began))
check "held: --wait 0.5, not before: $took ms" test $took -ge 500
start_on h3 run busy -- true
waiter=$!
check 'the waiter is listed' await is_listed '^waiting  *h3 ' busy
check 'the holder is listed with its process' \
    says 0 " $holder " on h2 list --object busy
check 'list --json' says 0 '"state":"held"' on h2 list --object busy --json
start_on h2 run busy -- true
stopped=$!
await is_listed '^waiting  *h2 ' busy
kill -TERM $stopped
check 'a waiter that is interrupted' code 143 wait $stopped
touch "$work/end"
check 'the holder ends' code 0 wait $holder
check 'the waiter gets it' code 0 wait $waiter

#   ------------------------------------------------------------ lock, unlock

start_on h1 lock thing >"$work/lock"
holder=$!
await test -s "$work/lock"
# shellcheck source=/dev/null
. "$work/lock"
check 'a wrong key' says 1 'nobody holds it with that key' \
    on h2 unlock thing 0123456789abcdef
check 'still held after that' code 124 on h3 run thing --wait 0 -- true
check 'the key, from another host' says 0 '{"object":"thing","unlocked":true}' \
    on h2 unlock thing "${key:-}" --json
check 'the holder learns of it' code 0 wait $holder
check 'the old key is good for nothing' code 1 on h2 unlock thing "${key:-}"
check 'unlock --json says so' says 1 '"unlocked":false}' \
    on h2 unlock thing "${key:-}" --json
start_on h1 lock other --json >"$work/json"
holder=$!
check 'lock --json' await grep -q '"key":"' "$work/json"
kill $holder
check 'lock --json: TERM' code 0 wait $holder
start_on h1 lock thing >"$work/lock"
holder=$!
await grep -q key "$work/lock"
kill -TERM $holder
check 'lock: TERM gives it back' code 0 wait $holder
check 'lock: it can be had at once' code 0 on h2 run thing --wait 90 -- true

check 'lock --background' bash -c "
    eval \"\$('$lockkeeper' lock bg --background)\" && [ -n \"\$token\" ] &&
    ! '$lockkeeper' run bg --wait 0 -- true 2>/dev/null"
check 'it ended with the shell' code 0 on h1 run bg --wait 90 -- true
check 'lock --background, then unlock' bash -c "
    eval \"\$('$lockkeeper' lock bg --background --pid $$)\" &&
    '$lockkeeper' unlock bg \"\$key\" &&
    '$lockkeeper' run bg --wait 90 -- true"

#   The example of lockkeeper(1), word for word but that it does not wait.
{
    echo "PATH=$BUILD:\$PATH; deploy () { echo \"\$2\" >$work/deployed; }"
    sed -n '/^Several steps/,/^\.Ed/ { /^[S.]/d; s/--background/--wait 0 &/; p; }' \
        "$(dirname "$0")/../../man/lockkeeper.1"
} >"$work/example"
check 'the example of the page' bash "$work/example"
check 'it had a token' grep -q '^[1-9]' "$work/deployed"
rm -f "$work/deployed"
check 'it gave back the lock' code 0 on h2 run deploy --wait 0 -- true
start_on h2 lock deploy >"$work/lock"
holder=$!
await test -s "$work/lock"
check 'the example while another has the lock' code 124 bash "$work/example"
check 'goes no further' test ! -e "$work/deployed"
for shell in bash dash; do
    check "lock --background fails an eval ($shell)" says 3 'somebody else' \
        "$shell" -c "eval \"\$('$lockkeeper' lock deploy --wait 0 \
        --background)\" || exit 3"
done
check 'and says it once' test "$("$lockkeeper" lock deploy --wait 0 \
    --background 2>"$work/said")" = false
check 'not as JSON' test -z "$("$lockkeeper" lock deploy --wait 0 \
    --background --json 2>"$work/said")"
check 'a usage that is wrong fails it, too' test "$("$lockkeeper" lock deploy \
    --nonsense --background 2>"$work/said")" = false
kill "$holder"
wait "$holder"

#   ------------------------------------------------------------ ends

check 'run --duration: stopped' says 122 'duration' \
    on h1 run short --duration 0.5 -- sleep 1000
began=$(now_ms)
check 'run --duration: stopped although it ignores TERM' code 122 \
    on h1 run short --duration 0.5 -- sh -c \
    "trap '' TERM; echo \$\$ >$work/deaf; while :; do sleep 0.1; done"
read -r deaf <"$work/deaf"
check 'and it is gone' gone "$deaf"
echo "measured: run --duration 0.5, TERM is ignored:" \
    "$(($(now_ms) - began)) ms"
check 'what it had can be had' code 0 on h2 run short --wait 90 -- true

start_on h1 run signal -- sh -c "trap 'exit 5' TERM; touch $work/up
    while :; do sleep 0.05; done"
holder=$!
await test -e "$work/up"
kill -TERM $holder
check 'a signal goes to the command' code 5 wait $holder

start_on h1 run crash -- sh -c "echo \$\$ >$work/crash; exec sleep 1000"
holder=$!
await test -s "$work/crash"
start_on h2 run crash -- date +%s%N >"$work/next"
waiter=$!
await is_listed '^waiting  *h2 ' crash
killed=$(now_ms)
kill -9 $holder
wait $holder 2>/dev/null
check 'kill -9 of the holder: the next one gets it' code 0 wait $waiter
echo "measured: next holder $(($(cat "$work/next") / 1000000 - killed)) ms" \
    "after kill -9 of the holder"
read -r command <"$work/crash"
check 'its command was killed, too' await gone "$command"
check 'nothing is left' await says 0 'nobody holds' on h1 list
done_checking
