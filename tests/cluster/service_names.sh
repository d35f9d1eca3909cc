#!/bin/bash
#   service_names.sh - names of services are of the router's user, and nobody
#   registers another's process
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Who may connect is in the group, and no more: under the name of the lock
#   service, while that is restarted, it could grant what it likes.

# shellcheck source=tests/cluster/speak_tap.sh
. "$(dirname "$0")/speak_tap.sh"
in_sandbox "$0" --hosts 1 --set router/mode=0666
hosts=(h1)
log=$LOCKKEEPER_SANDBOX/h1/router.log
endpoint=$(endpoint_of h1)
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

logged () {
    grep -q -- "$1" "$log"
}

#   register NAME SERVICE PID true|false [COMMAND...]: its answer is there.
register () {
    local name=$1 service=$2 pid=$3 application=$4
    shift 4
    speaker "$name" "$endpoint" "$@"
    say "$name" "$service@." router@. REGISTER 1 0 \
        "{\"service\":\"$service\",\"pid\":$pid,\"application\":$application}"
    within 60 heard "$name" '^router@[^ ]* (READY|REFUSE) 1 '
}

#   refused WHY NAME ...
refused () {
    local why=$1
    shift
    register "$@" && heard "$1" "REFUSE 1 .*$why" && silence "$1"
}

taken () {
    register "$@" && heard "$1" 'READY 1 '
}

check 'a process that is not its own is refused' \
    refused 'process 1 is not yours, you are ' liar liar-1 1 true
# shellcheck disable=SC2016
check 'its own is taken' taken honest honest '$PID' false
silence honest

if ! [ "$(id -u)" = 0 ]; then
    echo "ok $((cases += 1)) - other users # SKIP it takes root"
    done_checking
fi
chmod 711 "$work" "$LOCKKEEPER_SANDBOX" "$LOCKKEEPER_SANDBOX/h1"
cp "$speak" "$lockkeeper" "$work"
speak=$work/speak
kill -9 "$(cat "$LOCKKEEPER_SANDBOX/h1/lockd.pid")"
check 'the lock service is away' \
    within 60 logged 'session: up -> down: .*service=lock '
# shellcheck disable=SC2016
for application in true false; do
    check "its name is none for another user (application: $application)" \
        refused "the router's user" \
        other lock '$PID' $application "${nobody[@]}"
done
# shellcheck disable=SC2016
check 'nor is that of another process' refused 'your process number in it' \
    other backup-1 '$PID' true "${nobody[@]}"
# shellcheck disable=SC2016
check 'nor may it be a service' refused "services are of the router's user" \
    other backup '$PID' false "${nobody[@]}"
check 'a lock service comes' restart h1 lockd
check 'another user may use locks' env LOCKKEEPER_ENDPOINT="$endpoint" \
    "${nobody[@]}" "$work/lockkeeper" run --wait 60 gate -- true
done_checking
