#!/bin/bash
#   roles.sh - who somebody is for a router, and what that one may say
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The routers are root's; those who come are other users, by the one endpoint
#   or the other, or on another machine with a credential.

# shellcheck source=tests/cluster/speak_tap.sh
. "$(dirname "$0")/speak_tap.sh"
if ! [ "$(id -u)" = 0 ]; then
    echo '1..0 # SKIP it takes root to be somebody else'
    exit 0
fi
in_sandbox "$0" --hosts 2 --set router/mode=0666 \
    --set router/admin-group=64001 --set 'local/zone=@64002 red operator' \
    --set 'router/listen-clients=tcp://127.0.0.1:*'
hosts=(h1 h2)
log=$LOCKKEEPER_SANDBOX/h1/router.log
plain=(setpriv --reuid 65534 --regid 65534 --clear-groups)
admin=(setpriv --reuid 65534 --regid 65534 --groups 64001)
red=(setpriv --reuid 65534 --regid 65534 --groups "64003,64002")
chmod 711 "$work" "$LOCKKEEPER_SANDBOX" "$LOCKKEEPER_SANDBOX"/h[12]
cp "$speak" "$work"
speak=$work/speak

#   come NAME ENDPOINT COMMAND...: it is an application, with its number.
come () {
    local name=$1
    speaker "$@"
    enter "$name" "$name-${speaker[$name]}" true && heard "$name" 'READY 1 '
}

#   told NAME COMMAND PATTERN [TO [BODY]]: what is answered, N being its serial.
told () {
    serial=$((serial + 1))
    say "$1" "$1-${speaker[$1]}@h1" "${4:-router@.}" "$2" $serial 0 "${5:-"{}"}"
    within 60 heard "$1" "${3/ N / $serial }"
}

serial=10
endpoint=$(endpoint_of h1)
check 'the endpoint of admins is theirs' test \
    "$(stat -c '%a %g' "$LOCKKEEPER_SANDBOX/h1/router-admin")" = '660 64001'
check 'a user comes' come user "$endpoint" "${plain[@]}"
check 'and is one' heard user 'READY 1 .*"role":"user","user":"65534"'
for command in STOP SHUTDOWN INVITE KEYS ROTATEKEYS FORGET RELOADCONFIG \
    CLIENTKEYS CLUSTER; do
    check "which may not say $command" told user $command \
        'INVALID N .*that needs the role admin, you are user'
done
check 'nor to another host' told user FORGET \
    '^router@h2 INVALID N .*that needs the role admin, you are user' \
    router@h2 '{"name":"h9"}'
check 'the endpoint of admins is none for it' \
    code 1 "${plain[@]}" test -w "$LOCKKEEPER_SANDBOX/h1/router-admin"
silence user

check 'an admin comes' come boss "$endpoint-admin" "${admin[@]}"
check 'and is one' heard boss 'READY 1 .*"role":"admin","user":"65534"'
check 'which may say KEYS' told boss KEYS '^router@h1 KEYS N .*"keys"'
check 'and to another host' told boss FORGET '^router@h2 FORGET N ' router@h2 \
    '{"name":"h9"}'
silence boss
check 'by the other endpoint it is a user' come boss "$endpoint" "${admin[@]}"
check 'as all others' heard boss '"role":"user"'
silence boss

check 'one of another zone comes' come guest "$endpoint" "${red[@]}"
check 'and is there' heard guest '"zone":"red","role":"operator"'
check 'it hears nothing of hosts' told guest ROUTERSTATUS \
    'INVALID N .*that is not yours to say'
check 'nor asks their lock services' told guest LOCKSTATUS \
    'INVALID N .*that is not yours to say' lock@h2
check 'but its own' told guest LOCKSTATUS '^lock@h1 ' lock@.
silence guest
check 'so it cannot wait for them' says 124 'a zone is not told of members' \
    env LOCKKEEPER_ENDPOINT="$endpoint" "${red[@]}" "$lockkeeper" \
    wait-ready --full

if /usr/bin/python3 -c 'import zmq' 2>/dev/null; then
    export WORK=$work LOG=$log LOCKKEEPER=$lockkeeper
    CASES=$cases /usr/bin/python3 "$(dirname "$0")/roles_far.py" \
        | tee "$work/far"
    [ "${PIPESTATUS[0]}" = 0 ] || bad=$((bad + 1))
    cases=$((cases + $(grep -cE '^(not )?ok ' "$work/far")))
else
    echo "ok $((cases += 1)) - other machines # SKIP there is no pyzmq"
fi
kill "$(cat "$LOCKKEEPER_SANDBOX/h2/router.pid")"
gone () {
    ! [ -e "$LOCKKEEPER_SANDBOX/h2/router-admin" ]
}
check 'the endpoint of admins goes with the router' within 60 gone
done_checking
