#!/bin/bash
#   cli_settings.sh - settings that all hosts agree on
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   There are ten seconds between two changes, for which it sleeps.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3
box=$LOCKKEEPER_SANDBOX

#   version HOST: which one that host has.
version () {
    on "$1" settings get --json 2>/dev/null |
        sed -n 's/.*"version": *\([0-9]*\).*/\1/p'
}

#   has N HOST...: they have that version.
has () {
    local wanted=$1 host
    shift
    for host; do
        [ "$(version "$host")" = "$wanted" ] || return 1
    done
}

#   prints TEXT HOST VERB...: that, and nothing else.
prints () {
    local text=$1 host=$2
    shift 2
    on "$host" "$@" >"$work/printed" 2>&1
    [ "$(cat "$work/printed")" = "$text" ] || {
        cat "$work/printed"
        return 1
    }
}

kill_lockd () {
    kill -KILL "$(cat "$box/$1/lockd.pid")"
}

first_leader () {
    on h1 status | sed -n 's/^\(h[123]\) .*first leader.*/\1/p'
}

await three_lead
check 'there are none' prints '' h1 settings get
check 'and no value' says 1 "'settings/lock' is not set" \
    on h2 settings get settings/lock
check 'a key is set from any host' says 0 \
    'version 1 of the settings is in force' \
    on h3 settings set settings/lock h1 h3
check 'all hosts have it' await has 1 h1 h2 h3
check 'and tell its values' prints $'h1\nh3' h2 settings get settings/lock
check 'another host may change nothing now' says 1 \
    "'settings/lock' does not name that host" \
    on h2 settings set settings/lock h2
printf '%s\n' settings '    lock = nobody' >"$work/nobody"
check 'nobody is shut out for good' says 1 'names no member' \
    on h1 settings edit "$work/nobody"
printf '%s\n' settings '    look = h1' >"$work/wrong"
check 'what makes no sense is not asked for' says 1 \
    "line 2: there is no setting 'settings/look'" \
    on h1 settings edit "$work/wrong"
check 'what is so already is no change' says 0 'nothing was changed' \
    on h1 settings set settings/lock h1 h3

#   Both have edited version 1.
two_at_once () {
    local one two codes
    printf '%s\n' settings '    lock = h1' '    lock = h3' '# by h1' >"$work/a"
    printf '%s\n' settings '    lock = h1' '    lock = h3' '# by h3' >"$work/b"
    start_on h1 settings edit "$work/a" >"$work/said_a" 2>&1
    one=$!
    start_on h3 settings edit "$work/b" >"$work/said_b" 2>&1
    two=$!
    wait "$one"
    codes=$?
    wait "$two"
    codes+=$?
    cat "$work/said_a" "$work/said_b"
    [[ $codes = 01 || $codes = 10 ]] || {
        echo "codes: $codes"
        return 1
    }
    grep -q 'version 2 of the settings is in force' "$work"/said_[ab] &&
        grep -q 'were changed meanwhile' "$work"/said_[ab] &&
        grep -q '^+# by h[13]' "$work"/said_[ab]
}
check 'of two edits at once one is refused, and sees the other' two_at_once
check 'which all have' await has 2 h1 h2 h3

kill_lockd h2
check 'a former version comes back while a host is away' says 0 \
    'version 3 of the settings is in force' on h1 settings rollback 1
on h1 sandbox restart h2 lockd >"$work/out" 2>&1
check 'and that host hears of it' await has 3 h2
check 'the history has all of them' eval \
    '[ "$(on h1 settings history --json | grep -c version)" = 3 ]'
check 'with their texts' eval \
    'on h1 settings history 2 | grep -q "^# by h[13]"'
check 'a version that there never was' says 1 'never had that version' \
    on h1 settings history 9

#   Another text under its hash.
damage () {
    kill_lockd h3
    await ended "$(cat "$box/h3/lockd.pid")"
    sed -i 's/lock = h3/lock = h2/' "$(find "$box/h3" -name lock.settings)" ||
        return 1
    on h1 sandbox restart h3 lockd
}
check 'a host whose copy is changed behind its back starts' damage
check 'and has the right one again' await prints $'h1\nh3' h3 settings get \
    settings/lock
check 'as its log tells' grep -rq 'was changed or damaged' "$box/h3"

check 'an editor' says 0 'version 4 of the settings is in force' \
    env EDITOR="sed -i 's/lock = h3/lock = h2/'" bash -c \
    "LOCKKEEPER_ENDPOINT=ipc://$box/h1/router '$lockkeeper' settings edit"
check 'that fails' says 125 'nothing is changed' env EDITOR=false bash -c \
    "LOCKKEEPER_ENDPOINT=ipc://$box/h1/router '$lockkeeper' settings edit"

#   The leader that is at it dies; its successor goes on.
leader_dies () {
    local leader changer other=h1
    leader=$(first_leader)
    [ "$leader" != h1 ] || other=h2
    start_on $other settings set settings/lock h1 h2 h3 >"$work/said" 2>&1
    changer=$!
    nap 300
    kill_lockd "$leader"
    wait "$changer" || {
        cat "$work/said"
        return 1
    }
    on $other sandbox restart "$leader" lockd
}
check 'a change survives its leader' leader_dies
check 'on all hosts' await prints $'h1\nh2\nh3' h1 settings get settings/lock
check 'also on that one' await has 5 h1 h2 h3

#   Nobody has the text any more, and all go on.
lose_all () {
    local host
    for host in h1 h2 h3; do
        kill_lockd $host
        await ended "$(cat "$box/$host/lockd.pid")"
        sed -i 's/lock = h/lock = g/' "$(find "$box/$host" -name lock.settings)"
    done
    for host in h1 h2 h3; do
        on h1 sandbox restart $host lockd || return 1
    done
    await on h1 wait-ready --timeout 60
}
check 'all copies are damaged' lose_all
check 'which is told' says 1 "lacks the settings" on h2 settings get
check 'and shown' says 0 'have other settings than those in force, or lack' \
    eval 'on h1 status; true'
check 'another text takes their place' says 0 \
    'version 6 of the settings is in force' on h2 settings edit "$work/a"
check 'on each host' await has 6 h1 h2 h3
check 'the usage is told' says 125 "'settings' needs 'get', 'set'" \
    on h1 settings
check 'of a form' says 125 "'settings rollback' needs the number" \
    on h1 settings rollback now
done_checking
