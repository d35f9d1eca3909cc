#!/bin/sh
#   demo.sh - the main job, told step by step: a lock that outlives a leader
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   `make demo` runs it, and so does `lockkeeper sandbox -- examples/demo.sh`:
#   in the sandbox that it finds itself in, else in one of its own. Ends with
#   an error as soon as something else happens than it tells.

set -u
lockkeeper=${BUILD:+$BUILD/}lockkeeper
if [ -z "${LOCKKEEPER_SANDBOX:-}" ]; then
    echo 'Starting a router and a lock service for each of three hosts, all'
    echo 'on this machine, in a directory that is removed in the end.'
    echo
    DEMO_OWN=yes
    export DEMO_OWN
    exec "$lockkeeper" sandbox --hosts 3 -- sh "$0"
fi
if [ -z "${DEMO_OWN:-}" ]; then
    echo "This is played in the sandbox that it was started in,"
    echo "$LOCKKEEPER_SANDBOX: one of its hosts will be killed, and come back."
fi

lock=nightly-backup
play=$(mktemp -d "$LOCKKEEPER_SANDBOX/demo.XXXXXX") || exit 1
began=$(date +%s%N)

#   ------------------------------------------------------------ telling

step=0
tell () {
    step=$((step + 1))
    [ ! -t 1 ] || sleep 1 # somebody reads along
    echo
    echo "$step. $*"
}

more () {
    echo "   $*"
}

broken () {
    echo
    echo "THE STORY DID NOT COME TRUE: $*" >&2
    for file in "$play"/*.err; do
        [ -s "$file" ] && sed "s|^|   $(basename "$file"): |" "$file" >&2
    done
    exit 1
}

#   Waits up to $1 seconds for a command to succeed; $2 says what for.
await () {
    tries=$(($1 * 50))
    what=$2
    shift 2
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || broken "waited in vain until $what"
        sleep 0.02
    done
}

now_ms () {
    echo $(($(date +%s%N) / 1000000))
}

#   ------------------------------------------------------------ actors

endpoint () {
    echo "ipc://$LOCKKEEPER_SANDBOX/$1/router"
}

on () {
    host=$1
    shift
    LOCKKEEPER_ENDPOINT=$(endpoint "$host") "$lockkeeper" "$@"
}

#   An application $1 on host $2: works under the lock until there is a file
#   NAME.done, and notes its token and the time.
application () {
    LOCKKEEPER_ENDPOINT=$(endpoint "$2") DEMO="$play/$1" \
        "$lockkeeper" run "$lock" -- sh -c '
            date +%s%N >"$DEMO.since"
            echo "$LOCKKEEPER_TOKEN" >"$DEMO.part"
            mv "$DEMO.part" "$DEMO.token"
            until [ -e "$DEMO.done" ]; do sleep 0.02; done' \
        2>"$play/$1.err" &
    eval "pid_$1=$!"
}

token_of () {
    cat "$play/$1.token" 2>/dev/null
}

has_lock () {
    [ -e "$play/$1.token" ]
}

waits () {
    on "$2" list --object "$lock" 2>/dev/null | grep -q "^waiting  *$1 "
}

is_ready () {
    on "$1" status >/dev/null 2>&1
}

alive () {
    kill -0 "$1" 2>/dev/null
}

#   ------------------------------------------------------------ the story

home=$(on h1 status --object "$lock" | awk '$1 == "home" { print $2 }')
case $home in
    h1) a=h2 b=h3 ;;
    h2) a=h1 b=h3 ;;
    h3) a=h1 b=h2 ;;
    *) broken "nobody is the home of '$lock'" ;;
esac

tell "Each lock has a home, the leader that keeps its queue."
more "The home of the lock '$lock' is $home."

tell "Application A on $a asks for '$lock'."
application A $a
await 60 'A has the lock' has_lock A
token_a=$(token_of A)
more "A has it, with fencing token $token_a."

tell "Application B on $b asks for the same lock, and has to wait."
application B $b
await 60 'B waits in the queue' waits $b $b
on $b list | sed 's/^/   | /'

tell "Now $home fails: kill -9 for its lock service and its router."
read -r lockd_pid <"$LOCKKEEPER_SANDBOX/$home/lockd.pid"
read -r router_pid <"$LOCKKEEPER_SANDBOX/$home/router.pid"
killed=$(now_ms)
kill -9 "$lockd_pid" "$router_pid" || broken "they could not be killed"
leaders_left () {
    leaders=$(on $a status | awk '$1 == "leaders"')
    case "$leaders" in *$home*) return 1 ;; esac
    is_ready $a && is_ready $b
}
await 60 "$a and $b have elected leaders without $home" leaders_left
more "After $(($(now_ms) - killed)) ms $a and $b go on without $home."

tell "A still has the lock, and B still waits for it: nothing was lost."
await 60 "B's place in the queue is known to the new leaders" waits $b $b
on $a list | sed 's/^/   | /'
has_lock B && broken "B got the lock while A has it"
alive "$pid_A" || broken "A lost the lock"
on $a list --object "$lock" | grep -q "^held  *$a .* $token_a " \
    || broken "A is not listed with token $token_a"

tell "A is done and gives the lock back."
given=$(now_ms)
touch "$play/A.done"
wait "$pid_A" || broken "A ended with code $?"
await 60 'B has the lock' has_lock B
token_b=$(token_of B)
more "B has it $(($(cat "$play/B.since") / 1000000 - given)) ms later, with" \
    "token $token_b."
[ "$token_b" -gt "$token_a" ] || broken "$token_b is not above $token_a"
more "It is higher than A's, so whatever the lock protects can tell a late"
more "word of A from B's."

tell "$home comes back."
on $a sandbox restart $home >/dev/null || broken "it could not be started"
await 60 "$home is ready again" is_ready $home
more "It takes part again, and knows who has the lock:"
on $home list | sed 's/^/   | /'

tell "Application C on $home waits; then B is killed with -9."
application C $home
await 60 'C waits in the queue' waits $home $a
killed=$(now_ms)
kill -9 "$pid_B"
wait "$pid_B" 2>/dev/null
await 60 'C has the lock' has_lock C
token_c=$(token_of C)
more "C has it $(($(cat "$play/C.since") / 1000000 - killed)) ms later, with" \
    "token $token_c."
more "Half a second of that is for the guard of B: it kills what B had started,"
more "so that two never work at the same time."
[ "$token_c" -gt "$token_b" ] || broken "$token_c is not above $token_b"
touch "$play/C.done"
wait "$pid_C" || broken "C ended with code $?"

echo
echo "That was all, in $((($(date +%s%N) - began) / 1000000)) ms." \
    "Try it yourself: lockkeeper sandbox"
