#!/bin/bash
#   login.sh - a laptop logs in, by LDAP and by a file of passwords
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
# shellcheck source=tests/cluster/login_tap.sh
. "$(dirname "$0")/login_tap.sh"


check 'there are users of LDAP' serve_users ann bob dora
check 'and of a file' list_users carl
begin_cluster 'ttl=3600 renew=100000' 'ttl=3600 renew=0'
known () {
    [ "$(at h2 clients list | grep -c '^server ')" = 2 ]
}
check 'both hosts serve laptops' await known

#   ------------------------------------------------------------ logging in

check 'a laptop' laptop one h1
check 'is a stranger' says 125 'log in first; `lockkeeper login` gets' \
    of one list
check 'logs in by LDAP' says 0 'role         user' log_in one acme ann
issued_to () {
    of "$1" login --show >"$work/shown" && grep -q "^zone *$2$" "$work/shown" &&
        grep -q "^user *$3$" "$work/shown"
}
check 'and shows by what' issued_to one acme ann
# shellcheck disable=SC2016
check 'runs a command under a lock' says 0 'held     ann ' of one run thing -- \
    "$lockkeeper" list
empty () {
    of one list >"$work/listed" && ! grep -q thing "$work/listed"
}
check 'which is free again' await empty
check 'hosts are not told of it' code 1 says 0 thing at h1 list --zone none
check 'and does nothing of an operator' \
    says 125 'that needs the role operator' \
    of one run thing -- "$lockkeeper" unlock thing --force --reason x
check 'a credential lasts' cp "$work/one.credential" "$work/kept"
check 'it is renewed' says 0 'zone         acme' of one login --renew
renewed () {
    ! cmp -s "$work/one.credential" "$work/kept"
}
check 'by another one' renewed

check 'another laptop, of a host that does not issue' laptop two h2
check 'logs in there' says 0 'user         bob' log_in two acme bob
check 'holds a lock there' says 0 'held     bob ' of two run thing -- \
    "$lockkeeper" list
check 'that the first one cannot have' code 124 of two run thing -- \
    env LOCKKEEPER_CLIENT="$work/one" "$lockkeeper" run thing --wait 0 -- true
check 'renews there' says 0 'user         bob' of two login --renew
check 'a third one' laptop three h2
check 'logs in by a file of passwords' says 0 'role         operator' \
    log_in three corp carl
check 'which is another zone, of the same names' says 0 'held     carl ' \
    of one run thing -- env LOCKKEEPER_CLIENT="$work/three" "$lockkeeper" \
    run thing --wait 0 -- "$lockkeeper" list
check 'and is not renewed' says 1 'cannot be renewed: log in again' \
    of three login --renew

#   ------------------------------------------------------------ refusals

#   is_refused LAPTOP ZONE USER [PASSWORD]: says so, and what it has stays.
is_refused () {
    local before
    before=$(cat "$work/$1.credential")
    says 1 'cannot log in: wrong zone, user or password' log_in "$@" &&
        [ "$before" = "$(cat "$work/$1.credential")" ]
}
check 'a wrong password' is_refused one acme ann wrong
check 'a group without a role: the same words' is_refused two acme dora
check 'a zone that is not there' is_refused one nowhere ann
check 'then all of the address have to wait' says 124 'too many wrong log-ins' \
    log_in two acme bob wrong
check 'not for ever' await says 0 'zone         acme' log_in two acme bob
unlogged () {
    ! grep -q -e '-secret' "$work"/h?/*.log "$work"/h?/zones/*
}
check 'no password is in a log' unlogged
done_checking
