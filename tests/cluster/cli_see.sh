#!/bin/bash
#   cli_see.sh - what shows a cluster to people, on a cluster of three
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=300 \
    --set lock/leader-lease=700 --set lock/host-lease=3000

pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$2.pid"
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
check 'wait-ready: takes no name' says 125 "takes no 'x'" on h1 wait-ready x
check 'wait-ready: no router' says 124 "no router at '$nowhere'" \
    "$lockkeeper" wait-ready --timeout 0.3 --endpoint "$nowhere"
check 'wait-ready: no endpoint' says 125 'is no endpoint' \
    "$lockkeeper" wait-ready --endpoint h1

#   ------------------------------------------------------------ status

status_has () {
    on "$1" status >"$work/status"
    grep -qE "$2" "$work/status" || {
        cat "$work/status"
        return 1
    }
}

#   A lock that somebody waits for.
start_on h2 run shop -- sleep 60
holder=$!
check 'held' within 5 is_listed '^held ' shop
start_on h3 run shop -- true
waiter=$!
check 'waited for' within 5 is_listed '^waiting ' shop
check 'status: leaders and roles' \
    test "$(on h1 status | grep -cE '^h[123] +(first )?leader ')" = 3
check 'status: links with their age' \
    status_has h1 '^h2 .* live +[0-9.]+ s ready +[0-9.]+ +[0-9.]+$'
check 'status: who waits' \
    status_has h3 '^requests +2 in the cluster, 1 of them wait, for 1 names$'
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
check 'status: rates' within 5 rates
kill $holder
check 'it is passed on' code 0 wait $waiter
wait $holder

#   ------------------------------------------------------------ no quorum

kill_daemon h2 lockd
kill_daemon h3 lockd
unready () {
    ! on h1 status >/dev/null 2>&1
}
check 'two of three are gone: not ready' within 10 unready
check 'status: why, and what to do' says 1 'nobody gets a lock before' \
    on h1 status
check 'status: which host has no lock service' \
    says 1 '  no lock service answers there' on h1 status
check 'status --json: the same' json 'not it["ready"]
    and it["reason"].startswith("sees 1 of 3")
    and it["hosts"][1]["reason"] == "no lock service answers there"' \
    on h1 status --json
check 'wait-ready: says what it waits for' \
    says 124 'sees 1 of 3 members, needs 2' on h1 wait-ready --timeout 0.5
check 'wait-ready: of a host without a lock service' \
    says 124 'lockkeeper-lockd does not run on this host' \
    on h2 wait-ready --timeout 0.5
check 'wait-ready: as JSON, not ready' json \
    'not it["ready"] and "sees 1 of 3" in it["reason"] and len(rows) == 1' \
    on h1 wait-ready --timeout 0.3 --json
start_on h1 wait-ready --timeout 20 >"$work/waits"
waiter=$!
on h2 sandbox restart h2 lockd
check 'wait-ready: returns when there are enough' code 0 wait $waiter
check 'wait-ready: had waited' grep -q '^waiting: sees 1 of 3' "$work/waits"

done_checking
