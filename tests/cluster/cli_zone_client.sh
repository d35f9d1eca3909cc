#!/bin/bash
#   cli_zone_client.sh - what a zone's people see, by a client file or local
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Two hosts with a port for other machines; three people of zone red, and
#   those of zones that have reached a limit. Nobody of them is told of hosts.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 2 --set router/mode=0666 \
    --set 'router/listen-clients=tcp://127.0.0.1:*'
here=$(dirname "$0")
endpoint=$LOCKKEEPER_ENDPOINT
unset LOCKKEEPER_CLIENT

#   admin VERB...: at the endpoint of h1; the others have none.
admin () {
    LOCKKEEPER_ENDPOINT=$endpoint "$lockkeeper" "$@"
}
#   issue USER ZONE ROLE: the client file of that name has such a credential.
issue () {
    "$lockkeeper" client new "$work/$1" >"$work/$1.key" 2>/dev/null
    cat "$work/servers" >>"$work/$1"
    [ -z "${2:-}" ] || "$lockkeeper" credential issue --ttl 1h --user "$1" \
        --issuer "$work/issuer" --zone "$2" --role "$3" \
        --key "$(cat "$work/$1.key")" >"$work/$1.credential"
}
#   as USER VERB...: by that file; what it says is kept.
as () {
    local user=$1 out=$work/out.$BASHPID code
    shift
    env -u LOCKKEEPER_ENDPOINT "$lockkeeper" --client "$work/$user" "$@" \
        >"$out" 2>"$out.err"
    code=$?
    cat "$out" "$out.err" >>"$work/all.$user"
    cat "$out"
    cat "$out.err" >&2
    return "$code"
}
#   hold USER NAME: until $! ends; what is printed is in $work/NAME.
hold () {
    env -u LOCKKEEPER_ENDPOINT "$lockkeeper" --client "$work/$1" lock "$2" \
        >"$work/$2" 2>&1 &
}
#   lists USER PATTERN...: its list has a line like each.
lists () {
    local user=$1
    shift
    as "$user" list >"$work/list" && for pattern; do
        grep -qE "$pattern" "$work/list" || {
            cat "$work/list"
            return 1
        }
    done
}

key=$("$lockkeeper" key new "$work/issuer")
admin clients list | sed -n \
    's/^server *[^ ]* *\(tcp:[^ ]* [^ ]*\) .*/    server = "\1"/p' \
    >"$work/servers"
issue ann red user
issue bob red operator
issue eve red observer
issue sam one user
issue tom two user
issue old
{
    printf 'zones\n    zone = "%s"\n' 'red locks=3' 'one sessions=1' \
        'two requests=1'
    printf '    issuer = "%s '"$key"'"\n' red one two
    printf 'clients\n    key = "old %s"\n' "$(cat "$work/old.key")"
} >"$work/settings"
sed -i '2,${/^zones$/d}' "$work/settings"
check 'there are zones' says 0 'is in force' admin settings edit \
    "$work/settings"

#   A server is sought for five seconds; until the other one has heard of the
#   session it takes one more.
hold sam first
holder=$!
one_too_many () {
    as sam run second -- true 2>&1 | grep 'the zone may have 1 sessions'
}
second () {
    await grep -q '^key=' "$work/first" && await one_too_many
}
second >"$work/second" 2>&1 &
second=$!

#   ------------------------------------------------------------ a zone

check 'locks can be had' says 0 'ready: locks can be had' \
    as ann wait-ready --timeout 60
check 'nobody has one' says 0 'nobody holds or waits for a lock' as ann list
hold ann held
check 'one is held' await grep -q '^key=' "$work/held"
token=$(sed 's/.*token=\([0-9]*\).*/\1/' "$work/held")
key=$(sed 's/^key=\([^ ]*\).*/\1/' "$work/held")
admin lock default --static >/dev/null 2>&1
env -u LOCKKEEPER_ENDPOINT "$lockkeeper" --client "$work/bob" \
    run --wait 60 held -- true &
waiter=$!
check 'all of the zone are listed' await lists eve \
    '^STATE +USER +COMMAND ' '^held .* held$' '^waiting .* held$'
check 'and nobody else' code 1 grep -q 'default' "$work/list"
check 'by their names' lists bob '^held +(ann|-) .* held$'
check 'for programs' says 0 '"state":"held"' as ann list --held --json
check 'one of them' says 0 '"zone":"red"' as ann show --json held
check 'which is told whole' says 0 'held of zone red' as ann show held
check 'the holders' says 0 'HELD BY' as ann show held
check 'what is not held' says 1 'nobody holds it' as ann show other
check 'those that are asked for' await says 0 '"waiters":1' as ann top --json
check 'a token is good' says 0 "held newest=$token" as eve check held "$token"
check 'another one is not' says 1 'not held' as eve check held 1

check 'status' says 0 'ready' as ann status
told () {
    as ann status >"$work/status" && grep -qE '^zone +red$' "$work/status" &&
        grep -qE '^user +ann$' "$work/status" &&
        grep -qE '^role +user$' "$work/status" &&
        grep -qE '^credential +until 20.*Z, for 0:5' "$work/status" &&
        grep -qE '^locks +[23] of 3$' "$work/status" &&
        grep -qE '^sessions +[0-9]+, no limit$' "$work/status"
}
check 'who it is, and what the zone has' await told
check 'also for programs' says 0 '"locks_max":3' as bob status --json
check 'by a role' says 0 '"role":"operator","until":"20' as bob status --json

env -u LOCKKEEPER_ENDPOINT "$lockkeeper" --client "$work/bob" watch \
    >"$work/watched" 2>&1 &
watcher=$!
check 'watch begins' await grep -q 'held: 1 waiting' "$work/watched"

#   ------------------------------------------------------------ refusals

check 'a user takes nothing away' says 125 \
    'that needs the role operator, you are user' \
    as ann unlock --force --reason why held
check 'an observer gets nothing' says 125 \
    'that needs the role user, you are observer' as eve run other -- true
check 'nor gives back' says 125 'that needs the role user, you are observer' \
    as eve unlock held "$key"
check 'another zone' says 125 'that is another zone' as bob list --zone two
check 'whether there is one or not' says 125 'that is another zone' \
    as bob list --zone none
check 'a set that is too many' says 125 'the zone may have 3 locks' \
    as ann run --all a b c d -- true
check 'by key' says 1 'nobody holds it with that key' as ann unlock held 1
check 'an operator does' code 0 as bob unlock --force --reason stuck held
check 'and the next one has it' wait "$waiter"
check 'which was watched' await grep -qE 'held .*: (lost|released)' \
    "$work/watched"
past () {
    as bob show held | grep -qE ' ago  (ann|bob|-) .*: (lost|released)'
}
check 'and is remembered' past
kill "$watcher"
cat "$work/watched" >>"$work/all.bob"
as ann lock keyed --static >"$work/keyed" 2>/dev/null
check 'with the key a lock is given back' code 0 as ann unlock keyed \
    "$(sed 's/^key=\([^ ]*\).*/\1/' "$work/keyed")"

#   ------------------------------------------------------------ limits

check 'a zone of one session' wait "$second"
often () {
    as tom "$@" >"$work/often" 2>&1
    as tom "$@" >>"$work/often" 2>&1
    grep -q 'the zone may ask 1 times a second' "$work/often"
}
for verb in list status 'top --once' 'show x'; do
    # shellcheck disable=SC2086
    check "asked for too often: $verb" await often $verb
done

if /usr/bin/python3 -c 'import zmq' 2>/dev/null; then
    export PYTHONPATH=$here/../../python PYTHONDONTWRITEBYTECODE=1
    check 'Python is told as much' env -u LOCKKEEPER_ENDPOINT \
        /usr/bin/python3 "$here/zone_client.py" "$work"
fi
kill "$holder"

#   ------------------------------------------------------------ no hosts

check 'nobody was told of hosts' code 1 grep -E '\<h[12]\>|127\.0\.0|\<members?\>' \
    "$work/all.ann" "$work/all.bob" "$work/all.eve"

#   In the default zone all is as ever.
check 'with its key' says 0 'default' as old list
check 'for hosts' says 125 'is not to be had from a machine without a router' \
    as old status
check 'as before' says 125 'is not to be had' as old show default

#   ------------------------------------------------------------ admins

hold ann seen
seen=$!
check 'a zone holds one' await grep -q '^key=' "$work/seen"
in_list () {
    admin list "$@" >"$work/list" && grep -qE "$wanted" "$work/list"
}
wanted='^held +red +h[12] .* seen$'
check 'an admin sees zones' in_list
check 'of its own there is none' grep -qE '^held +h1 .* default$' "$work/list"
check 'one of them' in_list --zone red
check 'without others' code 1 grep -q default "$work/list"
in_list --zone default
check 'no column without zones' code 1 grep -q ZONE "$work/list"
check 'one lock of it' says 0 'seen of zone red: its home is h' \
    admin show --zone red seen
check 'which is none of its own' says 1 'nobody holds it' admin show seen
check 'top' says 0 '"zone":"red"' admin top --json
check 'but of one' code 1 grep -q '"zone":"red"' \
    <(admin top --zone default --json)
uses () {
    admin "$@" | grep -qE '^red +[1-3]/3 '
}
check 'status tells what zones use' await uses status
check 'as zone list does' await uses zone list
finish_test () {
    kill "$seen"
    wait "$seen"
}

#   ------------------------------------------------------------ ordinary ones

if [ "$(id -u)" != 0 ]; then
    finish_test
    done_checking
fi
chmod 711 "$LOCKKEEPER_SANDBOX" "$LOCKKEEPER_SANDBOX/h1"
#   user VERB...: on h1, as nobody.
user () {
    LOCKKEEPER_ENDPOINT=$endpoint setpriv --reuid 65534 --regid 65534 \
        --clear-groups "$lockkeeper" "$@"
}
check 'a user sees its zone' says 0 ' default' user list
check 'and no other' code 1 grep -q 'red\|seen' "$work/said"
check 'nor one by name' says 125 'that is another zone' user list --zone red
check 'nor what zones use' code 1 grep -q '^red' <(user status)
#   refused CODE VERB...: for want of the role admin.
refused () {
    check "refused: ${*:2}" says "$1" 'needs the role admin, you are user' \
        user "${@:2}"
}
check 'refused: unlock' says 125 'that needs the role operator, you are user' \
    user unlock --force --reason why default
refused 1 cluster add h9
refused 1 cluster remove h2
refused 1 cluster recover
refused 1 settings set zones/zone red
refused 1 forget h9
refused 1 clients add m9 "$(cat "$work/sam.key")"
refused 125 invite
refused 125 keys rotate
refused 125 zone list
refused 125 zone set red --locks 9
refused 125 backup -
finish_test
done_checking
