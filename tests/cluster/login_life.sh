#!/bin/bash
#   login_life.sh - the life of a credential, and its end with locks held
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Credentials of seconds, all at the same time; what they do at their end does
#   not depend on how long that is away.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
# shellcheck source=tests/cluster/login_tap.sh
. "$(dirname "$0")/login_tap.sh"

check 'there are users of LDAP' serve_users bob
list_users carl
begin_cluster 'ttl=12 renew=100000' 'ttl=12 renew=100000'

#   issued LAPTOP TTL [OPTIONS...]: a credential of acme, without a log-in.
issued () {
    "$lockkeeper" credential issue --issuer "$acme" --zone acme \
        --user "u-$1" --key "$(cat "$work/$1.key")" --ttl "$2" "${@:3}" \
        >"$work/$1.credential" && chmod 600 "$work/$1.credential"
}

#   work LAPTOP NAME LOCK [SHELL]: beats while it has that lock.
# shellcheck disable=SC2016
beat='while [ ! -e "$0.end" ]; do
          echo "$EPOCHREALTIME" >>"$0"
          sleep 0.05
      done'
declare -A job
work () {
    of "$1" run "$3" -- bash -c "${4:-}$beat" "$work/at-$2" \
        2>"$work/at-$2.err" &
    job[$2]=$!
}
works () {
    await test -s "$work/at-$1"
}
end () {
    touch "$work/at-$1.end"
    code 0 wait "${job[$1]}"
}
#   in_order ONE OTHER: one had ended its work before the other began.
in_order () {
    local last first
    last=$(tail -n 1 "$work/at-$1")
    first=$(head -n 1 "$work/at-$2")
    awk "BEGIN { exit !($last < $first) }" || {
        echo "$1 worked at $last, $2 at $first"
        return 1
    }
}
#   is_lost NAME TEXT: its command was stopped, and that is said.
is_lost () {
    code 122 wait "${job[$1]}" && grep -qF -- "$2" "$work/at-$1.err" || {
        cat "$work/at-$1.err"
        return 1
    }
}
ended="its credential has ended"

for name in mild wild robbed heir thief late python aio; do
    laptop "$name" h2 h1
done
laptop fired h1
laptop kept h2
laptop clock h2

#   ------------------------------------------------------------ what ends

issued heir 1h
issued robbed 1h
check 'users log in' log_in fired acme bob
check 'and are renewed' log_in kept corp carl
cp "$work/kept.credential" "$work/first"
issued mild 10s
issued wild 10s
issued python 10s
issued aio 10s
work kept kept kept
work fired fired fired
work robbed robbed robbed
work mild mild mild
work wild wild wild 'trap "" TERM; '
for kind in python aio; do
    LOCKKEEPER_CLIENT=$work/$kind /usr/bin/python3 "$here/login_life.py" \
        "$kind" >"$work/$kind.told" 2>&1 &
    job[$kind]=$!
    check "$kind holds a lock" await grep -q held "$work/$kind.told"
done
for name in kept fired robbed mild wild; do
    check "$name holds a lock" works "$name"
done
for name in fired robbed mild wild python aio; do
    work heir "heir-$name" "$name"
done
check 'who issues for it does not know a user any more' fire bob
check 'one is revoked' at h1 credential revoke "$work/robbed.credential"

#   ------------------------------------------------------------ what is refused

issued late 1h --not-before 2037-01-01T00:00:00Z
check 'one of the future' says 125 'the credential does not count yet' \
    of late run late -- true
cp "$work/heir.credential" "$work/thief.credential"
check 'one of another key' says 125 'the credential is of another key' \
    of thief run thief -- true

#   ------------------------------------------------------------ the end

check 'a command is stopped in time' is_lost mild "$ended"
check 'so is one that does not heed TERM' is_lost wild "$ended"
check 'and one of a user who is gone' is_lost fired "$ended"
check 'and one that was revoked' is_lost robbed "$ended"
for name in mild wild fired robbed; do
    check "the next one has the lock of $name" works "heir-$name"
    check "which had ended its work" in_order "$name" "heir-$name"
    check 'it keeps it' end "heir-$name"
done
for kind in python aio; do
    check "$kind loses its lock" await grep -q '^[0-9]' "$work/$kind.told"
    check 'by that error' \
        says 0 'lost credential' cat "$work/$kind.told"
    grep '^[0-9]' "$work/$kind.told" >"$work/at-$kind"
    check 'the next one has the lock' works "heir-$kind"
    check "which had ended its work" in_order "$kind" "heir-$kind"
    check 'it keeps it' end "heir-$kind"
done
check 'threads are warned' says 0 'jeopardy True' cat "$work/python.told"
check 'so are tasks' says 0 'jeopardy credential' cat "$work/aio.told"
check 'it may not come again' says 125 'the credential has ended' \
    of mild run mild -- true
check 'nor the other one' says 125 'the credential was revoked' \
    of robbed run robbed -- true

#   ------------------------------------------------------------ another one

for kind in python aio; do
    check "$kind cannot have a lock" await grep -q \
        "^failed credential: .*$kind.* credential has ended" "$work/$kind.told"
    check 'until there is another credential' issued "$kind" 1h
    touch "$work/$kind.again"
    check 'with which it goes on' code 0 wait "${job[$kind]}"
    check 'and has one' says 0 'again' cat "$work/$kind.told"
done

#   ------------------------------------------------------------ what goes on

is_renewed () {
    ! cmp -s "$work/first" "$work/kept.credential"
}
check 'one was renewed by itself' is_renewed
is_past () {
    [ "$(date +%s)" -gt "$(cut -d ' ' -f 7 "$work/first")" ]
}
check 'beyond the end of the first one' await is_past
lines=$(wc -l <"$work/at-kept")
goes_on () {
    [ "$(wc -l <"$work/at-kept")" -gt $((lines + 10)) ]
}
check 'the work goes on' await goes_on
check 'under the same lock' [ ! -s "$work/at-kept.err" ]
check 'it ends in order' end kept

#   ------------------------------------------------------------ a wrong clock

odd_clock clock lockkeeper
touch "$work/clock.ahead"
check 'a laptop whose clock is wrong' issued clock 1h
check 'has a lock' says 0 held env LD_PRELOAD="$work/clock.so" \
    LOCKKEEPER_CLIENT="$work/clock" "$lockkeeper" run clock -- \
    "$lockkeeper" list

#   ------------------------------------------------------------ moving

laptop moving h2 h1
issued moving 1h
work moving moving moving
check 'a lock is held by way of h2' works moving
kill -9 "${router[2]}"
wait "${router[2]}" 2>/dev/null
begun () {
    grep -q 'audit: session begun who=u-moving ' "$work/h1/router.log"
}
check 'whose router dies: the session moves' await begun
start_router h2
check 'and goes on' at h1 wait-ready --timeout 90
check 'nobody else has its lock' code 124 \
    of heir run moving --wait 0 -- true
check 'nothing is said' [ ! -s "$work/at-moving.err" ]
check 'it ends in order' end moving
done_checking
