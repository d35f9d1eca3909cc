#!/bin/bash
#   cli_see.sh - what shows a cluster to people, on a cluster of three
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=1500 \
    --set lock/leader-lease=3500 --set lock/host-lease=20000

#   Of a lock service that is hosted: its router's.
pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$(daemons "$2").pid"
}

kill_daemon () {
    kill -9 "$(pid_of "$1" "$2")"
}

#   json EXPRESSION COMMAND...: what it prints is JSON, one object per line,
#   and the expression (Python) is true of `rows`, the list of them, and `it`,
#   the first.
json () {
    local expression=$1
    shift
    "$@" >"$work/json" || true
    python3 - "$expression" "$work/json" <<'EOF'
import json, sys
with open(sys.argv[2], encoding='utf-8') as file:
    rows = [json.loads(line) for line in file]
it = rows[0] if rows else None
good = eval('(' + sys.argv[1] + ')')
if not good:
    print('not so:', sys.argv[1])
    for line in rows:
        print(json.dumps(line))
sys.exit(0 if good else 1)
EOF
}

#   ------------------------------------------------------------ wait-ready

nowhere=ipc://$work/nowhere
check 'wait-ready: ready' says 0 'ready: locks can be had on h1' \
    on h1 wait-ready
check 'wait-ready: as JSON' \
    json 'it["ready"] and it["host"] == "h2" and it["waited_ms"] >= 0' \
    on h2 wait-ready --json
check 'wait-ready --full: says that, too' \
    says 0 'ready: locks can be had on h3, and the cluster is full' \
    on h3 wait-ready --full --timeout 90
check 'wait-ready --full: three lead' three_lead
check 'wait-ready: takes no name' says 125 "takes no 'x'" on h1 wait-ready x
check 'wait-ready: no router' says 124 "no router at '$nowhere'" \
    "$lockkeeper" wait-ready --timeout 0.3 --endpoint "$nowhere"
check 'wait-ready: no endpoint' says 125 'is no endpoint' \
    "$lockkeeper" wait-ready --endpoint h1

#   ------------------------------------------------------------ status

status_has () {
    on "$1" status >"$work/status"
    grep -qE "$2" "$work/status" || {
        tail -n 40 "$work/status"
        return 1
    }
}

#   A lock that somebody waits for.
start_on h2 run shop -- sleep 1000
holder=$!
check 'held' await is_listed '^held ' shop
start_on h3 run shop -- true
waiter=$!
check 'waited for' await is_listed '^waiting ' shop
check 'status: leaders and roles' await three_lead
check 'status: links with their age' \
    status_has h1 '^h2 .* live +[0-9.]+ s ready +[0-9.]+ +[0-9.]+$'
check 'status: who waits' \
    status_has h3 '^requests +2 in the cluster, 1 of them wait, for 1 names$'
check 'status: since when locks can be had' \
    status_has h1 '^locks +ready for [0-9.]+ s'
check 'status: what the router keeps' \
    status_has h1 '^router +no message waits; since its start 0 expired,'
check 'status: nothing to do' status_has h1 '^alerts +none$'
check 'status: no colours but on a terminal' code 1 grep -q $'\033' \
    "$work/status"
terminal () {
    TERM=xterm script -qec "$(printf '%q ' "$@")" /dev/null
}
status_1 () {
    LOCKKEEPER_ENDPOINT=ipc://$LOCKKEEPER_SANDBOX/h1/router "$@"
}
check 'status: colours on a terminal' says 0 $'\033[32mready' \
    status_1 terminal "$lockkeeper" status
check 'status: NO_COLOR' code 1 grep -q $'\033' \
    <(NO_COLOR=1 status_1 terminal "$lockkeeper" status)
check 'status: fits into 80 columns' \
    awk 'length > 80 { print; exit 1 }' "$work/status"
check 'status: hosts fit into 60 columns' awk \
    '/^(HOST|h[123]) / { n++; if (length > 61) { bad = 1; print } }
    END { exit bad || n != 4 }' \
    <(NO_COLOR=1 status_1 terminal sh -c "stty cols 60; '$lockkeeper' status")
screenful () {
    NO_COLOR=1 status_1 terminal sh -c \
        "stty cols $1 rows $2; '$lockkeeper' status" |
        tr -d '\r' >"$work/fits"
    awk -v most="$1" 'length > most { print; bad = 1 } END { exit bad }' \
        "$work/fits" && [ "$(wc -l <"$work/fits")" -le "$2" ]
}
check 'status: one screen' screenful 80 24
check 'status: a narrow one' screenful 40 24
check 'status --json' json 'it["ready"] and len(rows) == 1
    and [host["host"] for host in it["hosts"]] == ["h1", "h2", "h3"]
    and all(host["live"] and host["ready"] for host in it["hosts"])
    and it["lock"]["waiting"] == it["lock"]["waited_for"] == 1
    and it["router"]["host"] == "h1"' on h1 status --json
rates () {
    for _ in 1 2 3; do
        on h1 run rates -- true
    done
    json 'it["hosts"][0]["grants"] >= 3
        and it["hosts"][0]["grants_lately"] >= 3
        and it["hosts"][0]["releases_lately"] >= 3' on h1 status --json
}
check 'status: rates' await rates

#   ------------------------------------------------------------ list

rows () {
    on h1 list "${@:2}" | tail -n +2 >"$work/rows"
    [ "$(wc -l <"$work/rows")" = "$1" ] || {
        cat "$work/rows"
        return 1
    }
}
odd=$(printf 'shop\t\033[31m\377')
start_on h3 run "$odd" --shared -- sleep 1000
odd_holder=$!
check 'a name that is no text' await rows 1 --object "$odd"
check 'list: by pattern' rows 3 'shop*'
check 'list: by a pattern of what is shown' rows 1 'shop\x09*xff'
check 'list: by one of two' rows 3 'x*' '*p' '*ff'
check 'list: none is like it' says 0 'such a lock' on h1 list 'SHOP'
check 'list: --waiting' rows 1 --waiting
check 'list: --held' rows 2 --held
check 'list: --host' rows 1 --host h2
check 'list: --pid' rows 1 --pid "$holder"
check 'list: --kind' rows 1 --kind shared
check 'list: --longer-than' rows 0 --longer-than 100
check 'list: --command' rows 2 --command sleep
check 'list: --command, a pattern, and one more filter' rows 1 --command 's*p' \
    --host h3
check 'list: --user' rows 3 --user "$(id -un)"
check 'list: --user by number, and one more filter' rows 1 --user "$(id -u)" \
    --waiting
check 'list: --user, of nobody' rows 0 --user 4294967290
check 'list: --user, and order' rows 3 --user "$(id -un)" --sort host
check '... is sorted' diff <(awk '{ print $2 }' "$work/rows") \
    <(printf '%s\n' h2 h3 h3)
check 'list: --user that there is none of' says 125 "no user 'nobody here'" \
    on h1 list --user 'nobody here'
check 'list: --own' rows 0 --own
check 'list: --own, where they are' says 0 "held     h2 " on h2 list --own
check 'list: --own, not those of others' code 1 grep -q '^[a-z]* *h3 ' \
    "$work/out"
check 'list --json: of users' json 'len(rows) == 3
    and all(row["uid"] == int("'"$(id -u)"'") and row["arguments"]
        and row["user"] and not row["jeopardy"] for row in rows)
    and sorted(row["command"] for row in rows) == ["sleep", "sleep", "true"]' \
    on h1 list --json --user "$(id -u)"
check 'list: --sort name' rows 3 --sort name
check '... is sorted' diff <(awk '{ print $NF }' "$work/rows") \
    <(printf '%s\n' shop shop 'shop\x09\x1b[31m\xff')
check 'list: --sort since' rows 3 --sort since
check '... the longest first' grep -q '^held  *h2 ' <(head -n 1 "$work/rows")
check 'list: --sort by nothing' says 125 '--sort needs' on h1 list --sort x
check 'list: --kind of nothing' says 125 '--kind needs' on h1 list --kind x
check 'list: --json' json 'len(rows) == 1 and it["host"] == "h2"
    and it["state"] == "held" and it["token"] > 0' \
    on h1 list --json --held shop
fits () {
    NO_COLOR=1 status_1 terminal sh -c "stty cols $1; '$lockkeeper' $2" |
        tr -d '\r' >"$work/fits"
    awk -v most="$1" 'length > most { print; bad = 1 }
        END { exit bad || NR < '"$3"' }' "$work/fits"
}
start_on h2 run "$(printf 'long%.0s' {1..100})" -- sleep 1000
long_holder=$!
check 'a long name' await says 0 longlonglong on h1 list --held
for width in 40 80 140; do
    check "list: fits into a terminal of $width columns" fits $width list 5
    check "show: fits into a terminal of $width columns" \
        fits $width 'show shop' 8
done
kill $long_holder
wait $long_holder
queue=()
for _ in {0..10}; do
    start_on h3 run queue -- sleep 1000
    queue+=($!)
done
all_wait () {
    [ "$(on h1 list --waiting | grep -c ' queue$')" = 10 ]
}
check 'a queue' await all_wait
low_show () {
    status_1 terminal sh -c "stty cols 80 rows 20; '$lockkeeper' show queue" |
        tr -d '\r' >"$work/fits"
    [ "$(wc -l <"$work/fits")" -le 20 ] && grep -q 'and 4 more wait' "$work/fits"
}
check 'show: of many who wait a terminal has the first' low_show
kill "${queue[@]}"
wait "${queue[@]}"

#   ------------------------------------------------------------ show

shows () {
    on "$1" show "$2" >"$work/show"
    grep -qE -- "$3" "$work/show" || {
        cat "$work/show"
        return 1
    }
}
check 'show: who holds it' \
    shows h1 shop "^h2 +$holder sleep +$(id -un | cut -c 1-12) "
check 'show: what it runs' grep -qE '^  .*lockkeeper run shop -- sleep 1000$' \
    "$work/show"
check 'show: who waits' grep -qE "^h3 +$waiter true .* exclusive$" "$work/show"
check 'show: odd names are escaped' shows h2 "$odd" '^shop\\x09\\x1b\[31m'
check 'show: fits into 80 columns, but for a long command' \
    awk 'length > 80 && !/lockkeeper run/ { exit 1 }' "$work/show"
check 'show: nobody' says 1 'nobody holds it' on h1 show none
check 'show: no name' says 125 'needs the name' on h1 show
check 'show --json' json 'it["object"] == "shop" and it["count"] == 2
    and [t["state"] for t in it["tickets"]] == ["held", "waiting"]
    and it["tickets"][0]["command"] == "sleep"
    and it["tickets"][0]["arguments"].endswith(" run shop -- sleep 1000")
    and it["own"] is False
    and it["tickets"][0]["uid"] >= 0 and it["tickets"][0]["user"]
    and it["tickets"][0]["jeopardy"] is False
    and it["events"][-1]["event"] == "granted"
    and it["events"][-1]["token"] == it["tickets"][0]["token"]' \
    on h3 show --json shop

#   ------------------------------------------------------------ watch, top

start_on h1 watch 'shop*' >"$work/watch"
watcher=$!
start_on h1 watch --json >"$work/watch.json"
json_watcher=$!
check 'watch: who waits' await grep -qE \
    '^[0-9:.]+ shop: 1 waiting, .*; held by 1$' "$work/watch"
check 'top: who waits' says 0 ' shop' on h3 top --once
#   In the order of what is asked for, and then of names.
start_on h3 run shop -- true
waiters="$!"
for name in b-shop a-shop; do
    start_on h1 run $name -- sleep 1000
    waiters+=" $!"
    await is_listed '^held ' $name
    start_on h1 run $name -- true
    waiters+=" $!"
    await is_listed '^waiting ' $name
done
top_is () {
    on h2 top --once --sort "$1" | awk '/-?shop$/ { print $NF }' >"$work/order"
    diff "$work/order" <(printf '%s\n' "${@:2}")
}
check 'top: the most waiters first, then by name' \
    await top_is waiters shop a-shop b-shop
check 'top: the longest wait first' await top_is time shop b-shop a-shop
# shellcheck disable=SC2086
kill $waiters
# shellcheck disable=SC2086
wait $waiters
check 'top: --json' json 'it["object"] == "shop" and it["waiters"] == 1
    and it["holders"] == 1 and it["longest_ms"] > 0
    and all(row["grants"] >= 0 for row in rows)' on h3 top --json
check 'top: as it is not on a terminal' says 0 WAITERS on h3 top </dev/null
check 'top: --sort by nothing' says 125 '--sort needs' on h3 top --sort x
mkfifo "$work/keys"
status_1 env TERM=xterm script -qefc "stty cols 60 rows 10; '$lockkeeper' top
    echo it ended \$?; stty -a" "$work/screen" <"$work/keys" >/dev/null &
screen=$!
exec {keys}>"$work/keys"
check 'top: a screen' await grep -qs 'WAITERS.* NAME' "$work/screen"
printf '?' >&"$keys"
check 'top: help' await grep -q '^g  by locks got per second' "$work/screen"
printf 'q' >&"$keys"
check 'top: q ends it' await grep -q 'it ended 0' "$work/screen"
exec {keys}>&-
wait $screen
narrow_top () {
    fits 40 'top --once' 2 && grep -q '^WAITERS HOLDERS  LONGEST NAME$' \
        "$work/fits"
}
check 'top: fits into 40 columns' narrow_top
#   Interrupted, or stopped and continued, and the terminal is as before.
start_top () {
    rm -f "$work/signalled" "$work/top.pid"
    TERM=xterm timeout 90 script -qfec "stty cols 60 rows 10
        sh -c 'echo \$\$ >$work/top.pid; exec $lockkeeper top'
        echo it ended \$?; stty -a" "$work/signalled" >/dev/null </dev/null &
    await grep -q WAITERS "$work/signalled"
}
ended_well () {
    wait $!
    tr -d '\033\r' <"$work/signalled" >"$work/out2"
    grep -q 'it ended 0' "$work/out2" && grep -q '[^-]icanon' "$work/out2" &&
        grep -q '[?]1049l.*it ended' <(tr -d '\n' <"$work/out2")
}
interrupted () {
    start_top && kill -INT "$(cat "$work/top.pid")" && ended_well
}
screens () {
    [ "$(grep -o '1049h' "$work/signalled" | wc -l)" = "$1" ]
}
stopped () {
    start_top && ! grep -q '1049l' "$work/signalled" || return 1
    kill -TSTP "$(cat "$work/top.pid")"
    await grep -q '1049l' "$work/signalled" && screens 1 || return 1
    kill -CONT "$(cat "$work/top.pid")"
    await screens 2 && kill -TERM "$(cat "$work/top.pid")" && ended_well
}
check 'top: Ctrl-C ends it, the terminal is as before' status_1 interrupted
check 'top: Ctrl-Z, and back' status_1 stopped
check 'top: the terminal is as before' grep -q '[^-]icanon' "$work/screen"
check 'top: no line is too long' awk '/ shop/ && length > 71 { exit 1 }' \
    "$work/screen"

kill $odd_holder
wait $odd_holder
kill $holder
check 'it is passed on' code 0 wait $waiter
wait $holder


lately () {
    on h1 show "$1" >"$work/show"
    grep -qE " ago  .*$2" "$work/show" || {
        cat "$work/show"
        return 1
    }
}
check 'show: it was released' lately shop \
    "@h2, pid $holder: released, held [0-9.]+ s, waited"
check 'watch: it was released' await grep -qE \
    "^[0-9:.]+ shop .*@h2 pid $holder: released, held " "$work/watch"
check 'watch: and granted' await grep -qE "pid $waiter: granted, waited" \
    "$work/watch"

#   Each lock of a set has its own history.
start_on h1 run --all one other -- sleep 1000
holder=$!
check 'two names' await is_listed '^held ' other
check 'show: one of a set, and its token' json \
    'it["events"][-1]["event"] == "granted"
    and it["events"][-1]["token"] == it["tickets"][0]["token"] > 0' \
    on h2 show --json other
kill $holder
wait $holder
check 'show: and how it ended' lately other "pid $holder: released, held"

#   How locks end otherwise.
hold_on () {
    start_on "$1" run "$2" "${@:3}" -- sleep 1000 2>"$work/holder.err"
    holder=$!
    await is_listed '^held ' "$2"
}
check 'held, to be forced' hold_on h2 forced
check 'force' on h3 unlock forced --force --reason 'it hangs'
check 'show: who forced it' lately forced '@h3, .*force asked for: it hangs'
check 'show: and of whom' lately forced \
    "pid $holder: lost: an operator took the lock away: it hangs, held"
wait $holder
check 'held, to be killed' hold_on h2 killed
kill -9 $holder
wait $holder
check 'show: its process ended' await lately killed \
    "pid $holder: ended: its process ended, held"
start_on h2 run short --duration 0.5 -- sleep 1000 2>"$work/holder.err"
holder=$!
check 'held, not for long' code 122 wait $holder
check 'show: its duration is over' lately short 'lost: its duration was over'
check 'held, on a host that goes' hold_on h3 gone
check 'held, for longer' hold_on h1 kept
kept=$holder
check 'did not get it' code 124 on h2 run kept --wait 0.2 -- true
check 'show: who did not get it' lately kept \
    '@h2, .*: failed: the time to wait was over, waited [0-9.]+ s'

#   ------------------------------------------------------------ no quorum

kill_daemon h2 lockd
kill_daemon h3 lockd
unready () {
    ! on h1 status >/dev/null 2>&1
}
check 'two of three are gone: not ready' await unready
check 'status: why, and what to do' says 1 'nobody gets a lock before' \
    on h1 status
gone='^  no lock service answers there$'
there='lockkeeper-lockd does not run on'
why='row["reason"] == "no lock service answers there"'
watched='its lock service does not answer'
if [ -n "${LK_HOSTED:-}" ]; then
    gone='^h2 +(first )?leader +[a-z]+ .* no' there='no router at'
    why='not row["live"]'
    watched='its router is not linked any more'
fi
check 'status: which host has no lock service' status_has h1 "$gone"
check 'status: who is missing' status_has h1 '^warning .* missing: h2 h3;'
start_on h1 run kept --wait 200 -- true
waiter=$!
if [ -z "${LK_HOSTED:-}" ]; then
    start_on h3 run cached --wait 200 -- true
    check 'status: a message waits for a lock service' await status_has h3 \
        '^router +1 messages wait here for lock@h3 1; since'
    kill $!
    check 'status: its router runs' status_has h3 \
        '^warning +linked, but no lock service answers: h3 h2;'
    check 'status: who is a member, as another host knows it' status_has h3 \
        '^h2 +(first leader|leader|member) '
fi
kill $waiter
wait $waiter
check 'status --json: advice' json 'any(a["kind"] == "warning"
    and "missing: h2 h3;" in a["text"] for a in it["advice"])' \
    on h1 status --json
check 'status --json: the same' json 'not it["ready"]
    and it["reason"].startswith("sees 1 of 3")
    and all('"$why"' for row in it["hosts"][1:])' on h1 status --json
cut_off () {
    on h1 show "$1" >"$work/show"
    [ $? = 124 ] && grep -q '^no leader tells now' "$work/show"
}
check 'show: no leader tells, 124' await cut_off kept
check 'show: since when it is cut off, and why' grep -qE \
    '^h1 has been cut off for [0-9.]+ s: sees 1 of 3 members, needs 2' \
    "$work/show"
check 'show: what is left' grep -qE \
    '^([0-9.]+ s of its lease are left|its lease is over)' "$work/show"
check 'show: its own holder' grep -qE "^h1 +$kept sleep " "$work/show"
check 'show --json: the same' json 'it["own"] and it["since_ms"] > 0
    and it["reason"].startswith("sees 1 of 3") and "lease_left" in it
    and [t["pid"] for t in it["tickets"]] == ['"$kept"']' on h1 show --json kept
check 'show: not those of others' says 124 'none of them holds it' \
    on h1 show gone
check 'list: no leader has it' says 1 'list --own' on h1 list
check 'list: --own, nevertheless' says 0 ' kept' on h1 list --own
check 'status: locks in jeopardy' await status_has h1 \
    '^warning +1 locks may soon be lost, .* the leaders: h1$'
check 'wait-ready: says what it waits for' \
    says 124 'sees 1 of 3 members, needs 2' on h1 wait-ready --timeout 2
check 'wait-ready: of a host without a lock service' \
    says 124 "$there" on h2 wait-ready --timeout 2
check 'wait-ready: as JSON, not ready' json \
    'not it["ready"] and "sees 1 of 3" in it["reason"] and len(rows) == 1' \
    on h1 wait-ready --timeout 2 --json
start_on h1 wait-ready --timeout 90 >"$work/waits"
waiter=$!
check 'wait-ready: waits' await grep -q '^waiting: sees 1 of 3' "$work/waits"
on h2 sandbox restart h2 "$(daemons lockd)"
check 'wait-ready: returns when there are enough' code 0 wait $waiter

[ -n "${LK_HOSTED:-}" ] || kill_daemon h3 router
given_up () {
    lately gone '@h3, .*lost: its host was cut off or is down'
}
check 'show: its host was given up' await given_up
check 'watch: leaders' await \
    grep -q '"event":"leaders","text":"term' "$work/watch.json"
check 'watch: hosts' grep -q "\"text\":\"$watched\"" "$work/watch.json"
check 'watch --json: one object per line' json \
    'all(row["time"].endswith("Z") for row in rows)
    and any(row["event"] == "granted" and row["object"] == "killed"
         for row in rows) and any(row["event"] == "waiting" for row in rows)' \
    cat "$work/watch.json"
kill $watcher $json_watcher $holder

done_checking
