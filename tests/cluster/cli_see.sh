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
#   and the expression (Python) is true of `all`, the list of them, and `it`,
#   the first.
json () {
    local expression=$1
    shift
    "$@" >"$work/json" || true
    python3 - "$expression" "$work/json" <<'EOF'
import json, sys
with open(sys.argv[2], encoding='utf-8') as file:
    all = [json.loads(line) for line in file]
it = all[0] if all else None
good = eval(sys.argv[1])
if not good:
    print('not so:', sys.argv[1])
    for line in all:
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

#   ------------------------------------------------------------ no quorum

kill_daemon h2 lockd
kill_daemon h3 lockd
unready () {
    ! on h1 status >/dev/null 2>&1
}
check 'two of three are gone: not ready' within 10 unready
check 'wait-ready: says what it waits for' \
    says 124 'sees 1 of 3 members, needs 2' on h1 wait-ready --timeout 0.5
check 'wait-ready: of a host without a lock service' \
    says 124 'lockkeeper-lockd does not run on this host' \
    on h2 wait-ready --timeout 0.5
check 'wait-ready: as JSON, not ready' json \
    'not it["ready"] and "sees 1 of 3" in it["reason"] and len(all) == 1' \
    on h1 wait-ready --timeout 0.3 --json
start_on h1 wait-ready --timeout 20 >"$work/waits"
waiter=$!
on h2 sandbox restart h2 lockd
check 'wait-ready: returns when there are enough' code 0 wait $waiter
check 'wait-ready: had waited' grep -q '^waiting: sees 1 of 3' "$work/waits"

done_checking
