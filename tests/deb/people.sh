# shellcheck shell=bash
#   people.sh - who may do what on a host, by the groups that packages make
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced by try.sh, once its hosts h1 to h3 are members. Log-ins from m1
#   are in machine.sh.

#   in_group GROUP COMMAND...: on h1, as somebody who is in no other one.
in_group () {
    on h1 setpriv --reuid nobody --regid nogroup --groups "$1" \
        env HOME=/tmp "${@:2}"
}
#   refuses ROLE GROUP COMMAND...: since it takes that role.
refuses () {
    ! in_group "${@:2}" >"$work/refused" 2>&1 &&
        grep "needs the role $1, you are user" "$work/refused" ||
        { cat "$work/refused"; return 1; }
}
mode_is () {
    [ "$(on h1 stat -c '%U:%G %a' "/run/lockkeeper/$1")" = "$2" ]
}
holds_forced () {
    on h2 lockkeeper list | grep -E "^held.* forced$"
}
check 'the endpoint of users is their group'\''s' \
    mode_is router 'lockkeeper:lockkeeper 660'
check 'that of administrators is theirs' \
    mode_is router-admin 'lockkeeper:lockkeeper-admin 660'
on_quietly h1 lockkeeper run forced -- sleep 1000
check 'somebody has a lock' within 5 holds_forced
check 'a user gets one' in_group lockkeeper lockkeeper run users -- true
check 'and takes none by force' refuses operator lockkeeper \
    lockkeeper unlock forced --force --reason test
check 'nor changes members' refuses admin lockkeeper \
    lockkeeper cluster remove h3
check 'nor settings' refuses admin lockkeeper \
    lockkeeper settings set settings/lock h1
check 'nor lets hosts in' refuses admin lockkeeper lockkeeper invite
check 'nor withdraws their keys' refuses admin lockkeeper lockkeeper forget h3
check 'nor ends a daemon' no in_group lockkeeper \
    kill "$(pid_of h1 router)" "$(pid_of h1 lockd)"
check 'it is held as before' holds_forced
check 'an administrator gets a lock' in_group lockkeeper-admin \
    lockkeeper run admins -- true
check 'and lets hosts in' in_group lockkeeper-admin lockkeeper invite
check 'and takes a lock by force' in_group lockkeeper-admin \
    lockkeeper unlock forced --force --reason test
check 'which ends it' within 20 no holds_forced
check 'the journal has both' on h1 sh -c '
    journalctl -u lockkeeper-lockd | grep "audit: UNLOCK refused who=65534" &&
    journalctl -u lockkeeper-lockd | grep "audit: force asked who=65534"'
