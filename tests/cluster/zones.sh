#!/bin/bash
#   zones.sh - the wall between zones, looked at from both sides
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A cluster of three hosts with many zones, and one of one host that has the
#   zone red alone: what a client of red is told is the same in both.

export LK_ZONES=${LK_ZONES:-$(mktemp -d "${TMPDIR:-/tmp}/zones.XXXXXX")}
# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
here=$(dirname "$0")
/usr/bin/python3 -c 'import zmq' 2>/dev/null || {
    echo '1..0 # SKIP there is no pyzmq'
    rm -rf "$LK_ZONES"
    exit 0
}
options=(--set router/mode=0666 --set 'router/listen-clients=tcp://127.0.0.1:*')
mkdir -p "$LK_ZONES/logs" "$LK_ZONES/alone-logs"
in_sandbox "$0" --hosts 3 "${options[@]}" --set "lock/zone-logs=$LK_ZONES/logs"

#   The other one begins meanwhile.
env -u LOCKKEEPER_SANDBOX -u LOCKKEEPER_ENDPOINT "$lockkeeper" sandbox \
    --hosts 1 "${options[@]}" --set "lock/zone-logs=$LK_ZONES/alone-logs" \
    --dir "$LK_ZONES/alone" -- sleep 1000 >"$LK_ZONES/alone.out" 2>&1 &
alone=$!
finish_test () {
    kill "$alone" 2>/dev/null
    wait "$alone"
    rm -rf "$LK_ZONES" "$work"
}
trap finish_test EXIT
key=$("$lockkeeper" key new "$work/issuer")

#   settings ZONE...: of these, by the one issuer; a limit of each.
settings () {
    local zone
    echo zones
    for zone in default "$@"; do
        echo "    zone = \"$zone\""
    done
    for zone in default "$@"; do
        echo "    issuer = \"${zone%% *} $key\""
    done
}
red='red locks=100000 sessions=1000 bytes=1000000 requests=100000'
limited=('few locks=3' 'thin bytes=60' 'lone sessions=2' 'slow requests=6')
settings "$red" gold blue "${limited[@]}" z{1..100} >"$work/settings"
settings "$red" >"$work/alone"
check 'a cluster with many zones' says 0 'is in force' \
    "$lockkeeper" settings edit "$work/settings"
is_up () {
    LOCKKEEPER_ENDPOINT=ipc://$LK_ZONES/alone/h1/router \
        "$lockkeeper" wait-ready --timeout 1
}
check 'and one with a single one' await is_up
check 'is there' says 0 'is in force' \
    env "LOCKKEEPER_ENDPOINT=ipc://$LK_ZONES/alone/h1/router" \
    "$lockkeeper" settings edit "$work/alone"

export WORK=$work LOCKKEEPER=$lockkeeper ALONE=$LK_ZONES/alone \
    LOGS=$LK_ZONES/logs
chmod 711 "$work" "$LK_ZONES" "$LOCKKEEPER_SANDBOX" "$LOCKKEEPER_SANDBOX"/h?
for script in ${PARTS:-zones_table zones_same zones_many}; do
    CASES=$cases /usr/bin/python3 "$here/$script.py" 2>&1 |
        tee "$work/$script"
    [ "${PIPESTATUS[0]}" = 0 ] || bad=$((bad + 1))
    cases=$((cases + $(grep -cE '^(not )?ok ' "$work/$script")))
done
done_checking
