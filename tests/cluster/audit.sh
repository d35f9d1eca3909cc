#!/bin/bash
#   audit.sh - each thing that somebody does is one line of the log
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   In the log of the process where it happens, and in that of its zone.

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

list_users carl dave
serve_users ann
begin_cluster 'ttl=3600 renew=100000' 'ttl=3600 renew=100000'
at h1 settings get >"$work/before"

#   ------------------------------------------------------------ settings

one 'settings are changed' h1 lockd default \
    'settings asked who=0 zone=default from=[^ ]*@h1 base=[0-9]+ in=5 out=0 '\
'in-first="zones"'
check 'a zone more' at h1 zone add lab --authority file
one 'is a change of settings' h1 lockd default \
    'settings asked who=0 .* in-first="zone = .lab .*'
check 'and one less' at h1 zone remove lab
one 'is one' h1 lockd default \
    'settings asked who=0 .* out-first="zone = .lab .*'
check 'a member goes' await at h1 cluster remove h2
one 'so is told' h1 lockd default 'members asked who=0 .* remove=h2'
check 'and comes back' await at h1 cluster add h2
one 'told' h1 lockd default 'members asked who=0 .* add=h2'

#   ------------------------------------------------------------ log-ins

check 'a laptop' laptop one h1
check 'logs in' log_in one corp carl
one 'a log-in' h1 issuer corp \
    "login ok who=carl zone=corp $from role=operator key=[0-9a-f]{16} serial="
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

#   held LAPTOP NAME: somebody holds that, until it is lost.
held () {
    of "$1" run "$2" -- sh -c 'echo >"$0"; exec sleep 600' "$work/$2.held" \
        2>"$work/$2.err" &
    holder=$!
    await test -e "$work/$2.held"
}
check 'a lock is held' held one forced
check 'forced' of one unlock forced --force --reason 'no use'
one 'an end by force' h1 lockd corp \
    'force asked who=carl zone=corp from=far-[^ ]*@h1 lock=forced '\
'token=[0-9a-f]* reason="no use"'
check 'the holder ends' code 122 wait "$holder"
check 'two laptops' laptop ann h1
check 'of which one may not do that' log_in ann acme ann
check 'and tries' says 125 'that needs the role operator' \
    of ann unlock forced --force --reason x
one 'a refusal' h1 lockd acme \
    'UNLOCK refused who=ann zone=acme from=far-[^ ]*@h1 .*the role operator, '\
'you are user"'

check 'a credential of another key' laptop copy h1
cp "$work/one.credential" "$work/copy.credential"
check 'is refused' says 125 'is of another key' of copy list
one 'which is told' h1 router corp \
    "credential refused who=carl zone=corp $from service=.*why=\"the \
credential is of another key\""
"$lockkeeper" key new "$work/false.key" >/dev/null
"$lockkeeper" credential issue --issuer "$work/false.key" --zone corp \
    --user mallory --key "$(cat "$work/copy.key")" --ttl 1h \
    >"$work/copy.credential"
check 'one of nobody' says 125 'does not speak for that zone' of copy list
one 'is told without a zone' h1 router - \
    "credential refused who=[?] zone=[?] $from .*does not speak for that zone"
check 'a lock is held' held one revoked
check 'revoked' at h1 credential revoke "$work/one.credential"
one 'a revocation is a change of settings' h1 lockd default \
    'settings asked who=0 .* in-first="revoked = .*'
one 'by which a session is cut off' h1 router corp \
    "session cut off who=carl zone=corp $from serial=.*-sh-.* why=\"the \
credential was revoked\""
check 'the holder ends' code 122 wait "$holder"
check 'and is told why' grep -q 'its credential has ended' "$work/revoked.err"
check 'what became of its lock is in the log of the zone' await grep -q \
    'lock: held -> [a-z]* lock=revoked owner=far-[^ ]* user=carl' \
    "$work/h1/zones/corp.log"
unmixed () {
    ! grep -q zone=corp "$work"/h?/zones/acme.log &&
        ! grep -q zone=acme "$work"/h?/zones/corp.log
}
check 'no zone hears of another one' unmixed
done_checking
