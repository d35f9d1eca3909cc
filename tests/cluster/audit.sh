#!/bin/bash
#   audit.sh - each thing that somebody does is one line of the log
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   In the log of the process where it happens, and in that of its zone. Things
#   that take long are begun early, and looked at later.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
# shellcheck source=tests/cluster/login_tap.sh
. "$(dirname "$0")/login_tap.sh"

#   told COUNT FILE TEXT: that is there so many times.
told () {
    local count
    count=$(grep -cE "audit: $3" "$work/$2")
    [ "$count" = "$1" ] || {
        grep audit: "$work/$2" >"$work/told"
        return 1
    }
}
#   one TITLE HOST PROCESS ZONE TEXT: in both logs, by and by, once.
one () {
    check "$1" await told 1 "$2/$3.log" "$5"
    [ "$4" = - ] || check "$1, in the log of its zone" \
        await told 1 "$2/zones/$4.log" "$5"
}
look_around () {
    sed 's/^/# /' "$work/told"
}
from='from=127[.]0[.]0[.]1'

#   later NAME COMMAND...: is begun; in_time NAME CODE TEXT: it has ended with
#   that code, and said that.
declare -A job
later () {
    "${@:2}" >"$work/$1.said" 2>&1 &
    job[$1]=$!
}
in_time () {
    code "$2" wait "${job[$1]}" && grep -qF -- "$3" "$work/$1.said" || {
        cat "$work/$1.said"
        return 1
    }
}
#   held LAPTOP NAME: somebody holds that, until it is lost, or the process ends
#   whose number is in NAME.held.
held () {
    # shellcheck disable=SC2016
    later "$2" of "$1" run "$2" -- sh -c 'echo $$ >"$0"; exec sleep 600' \
        "$work/$2.held"
    await test -s "$work/$2.held"
}

list_users carl dave erin
serve_users ann
odd_clock clock lockkeeper-router
LD_PRELOAD=$work/clock.so begin_cluster 'ttl=12 renew=100000' \
    'ttl=3600 renew=100000'
one 'settings are changed' h1 lockd default \
    'settings asked who=0 zone=default from=[^ ]*@h1 base=[0-9]+ in=5 out=0 '\
'in-first="zones"'

#   Ahead of all sessions: behind elections in a row they have to claim their
#   locks, which one that is cut off cannot.
is_member () {
    at h1 cluster members | grep -qE '^h2 .*(leader|member)'
}
check 'the second host is a member' await is_member
check 'a member goes' await at h1 cluster remove h2
one 'so is told' h1 lockd default 'members asked who=0 .* remove=h2'
check 'and comes back' await at h1 cluster add h2
one 'told' h1 lockd default 'members asked who=0 .* add=h2'

#   ------------------------------------------------------------ what takes time

for name in one ann gone rude copy false; do
    laptop "$name" h1
done
check 'one who renews' log_in ann acme ann
check 'has a lock' held ann renewed
check 'one who is revoked' log_in gone corp dave
check 'has a lock, too' held gone revoked
later revoke at h1 credential revoke "$work/gone.credential"
one 'a revocation is a change of settings' h1 lockd default \
    'settings asked who=0 .* in-first="revoked = .*'
check 'a laptop' log_in one corp carl
one 'a log-in' h1 issuer corp \
    "login ok who=carl zone=corp $from role=operator key=[0-9a-f]{16} serial="
cp "$work/one.credential" "$work/copy.credential"
later copy of copy list
"$lockkeeper" key new "$work/forger.key" >/dev/null
"$lockkeeper" credential issue --issuer "$work/forger.key" --zone corp \
    --user mallory --key "$(cat "$work/false.key")" --ttl 1h \
    >"$work/false.credential"
later false of false list

#   ------------------------------------------------------------ log-ins

check 'a wrong password' says 1 wrong log_in one corp carl wrong
one 'is told' h1 issuer corp \
    "login refused who=carl zone=corp $from .* why=wrong-password"
check 'a zone that is not there' says 1 wrong log_in one nowhere eve
one 'is told' h1 issuer - \
    "login refused who=eve zone=nowhere $from .* why=no-zone"
no_log () {
    [ ! -e "$work/h1/zones/nowhere.log" ]
}
check 'and has no log of its own' no_log
check 'a session' of one run thing -- true
one 'begins by a credential' h1 router corp \
    "session begun who=carl zone=corp $from role=operator until=.* \
service=far-.*-true-"
check 'a renewal' of one login --renew
one 'is told' h1 issuer corp "renew ok who=carl zone=corp $from "
check 'a user is gone' "$lockkeeper" user remove carl --file "$work/passwords"
check 'so is not renewed' says 1 'log in again' of one login --renew
one 'which is told' h1 issuer corp \
    "renew refused who=carl zone=corp $from .* why=no-user"

#   ------------------------------------------------------------ sessions

check 'a lock is held' held one forced
check 'forced' of one unlock forced --force --reason 'no use'
one 'an end by force' h1 lockd corp \
    'force asked who=carl zone=corp from=far-[^ ]*@h1 lock=forced '\
'token=[0-9a-f]* reason="no use"'
check 'the holder ends' in_time forced 122 ''
check 'another one may not do that' says 125 'that needs the role operator' \
    of ann unlock forced --force --reason x
one 'a refusal' h1 lockd acme \
    'UNLOCK refused who=ann zone=acme from=far-[^ ]*@h1 .*the role operator, '\
'you are user"'
check 'a credential of another key is refused' in_time copy 125 \
    'is of another key'
one 'which is told' h1 router corp \
    "credential refused who=carl zone=corp $from service=.*why=\"the \
credential is of another key\""
check 'so is one of nobody' in_time false 125 'does not speak for that zone'
one 'which is told without a zone' h1 router - \
    "credential refused who=[?] zone=[?] $from .*does not speak for that zone"
check 'one that was revoked' in_time revoke 0 ''
one 'by which a session is cut off' h1 router corp \
    "session cut off who=dave zone=corp $from serial=.*-sh-.* why=\"the \
credential was revoked\""

come_and_go () {
    at h1 zone add lab --authority file && at h1 zone remove lab
}
later lab come_and_go
one 'a zone more is a change of settings' h1 lockd default \
    'settings asked who=0 .* in-first="zone = .lab .*'

#   It may have been renewed again.
renewed () {
    local log
    for log in h1/router.log h1/zones/acme.log; do
        grep -qE "audit: session renewed who=ann zone=acme $from role=user \
until=.* serial=.* service=far-.*-sh-" "$work/$log" || return 1
    done
}
check 'a session is renewed, in both logs' await renewed
kill "$(cat "$work/renewed.held")"
check 'a machine logs in' log_in rude corp erin
check 'and says nonsense' /usr/bin/python3 "$here/audit_rude.py" "$work/rude"
one 'its key is shut out' h1 router corp \
    "key shut out who=erin zone=corp $from key=[0-9a-f]{16} seconds=10 \
why=\"a frame that cannot be read\""
check 'not this host' told 0 h1/router.log 'address shut out'
kill "$issuer"
wait "$issuer"
nobody='no host of the cluster issues credentials'
check 'nobody issues' says 125 "$nobody" log_in one corp dave
one 'which the router tells' h1 router corp \
    "login refused who=dave zone=corp $from key=[0-9a-f]{16} why=\"$nobody\""
check 'nor renews' says 125 "$nobody" of one login --renew
one 'which it tells, too' h1 router corp \
    "renew refused who=carl zone=corp $from key=[0-9a-f]{16} why=\"$nobody\""
check 'a lock is held' held one ended
touch "$work/clock.ahead"
one 'a session that is there after its end is cut off' h1 router corp \
    "session cut off who=carl zone=corp $from serial=.*-sh-.* why=\"its \
credential has ended\""

#   ------------------------------------------------------------ what took time

one 'a zone less is one, too' h1 lockd default \
    'settings asked who=0 .* out-first="zone = .lab .*'
check 'it came and went' in_time lab 0 ''
for name in revoked ended; do
    check "who was $name has lost the lock" in_time "$name" 122 \
        'its credential has ended'
done
check 'which is in the log of its zone' await grep -q \
    'lock: held -> [a-z]* lock=revoked owner=far-[^ ]* user=dave' \
    "$work/h1/zones/corp.log"
unmixed () {
    ! grep -q zone=corp "$work"/h?/zones/acme.log &&
        ! grep -q zone=acme "$work"/h?/zones/corp.log
}
check 'no zone hears of another one' unmixed
#   Its words up to the first value.
documented () {
    sed -n 's/.*\(audit: [^=]* who=\).*/\1/p' "$work"/h?/*.log | sort -u \
        >"$work/lines"
    while read -r line; do
        grep -qF -- "$line" "$here"/../../man/*.[78] || {
            echo "in no page: $line"
            return 1
        }
    done <"$work/lines"
    [ -s "$work/lines" ]
}
check 'all of these lines are in the pages' documented
done_checking
