#!/bin/bash
#   cli_status.sh - what `lockkeeper status` warns of first, and its remedies
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=300 \
    --set lock/leader-lease=700 --set lock/host-lease=2200

#   begins HOST PATTERN...: status there begins with these lines.
begins () {
    local line=0 pattern
    on "$1" status >"$work/status"
    for pattern in "${@:2}"; do
        line=$((line + 1))
        sed -n "${line}p" "$work/status" | grep -qE "$pattern" || {
            echo "line $line is not like '$pattern'"
            cat "$work/status"
            return 1
        }
    done
}
has () {
    on "$1" status >"$work/status"
    grep -qE "$2" "$work/status" || {
        cat "$work/status"
        return 1
    }
}

check 'all is well: that is said first' await begins h1 \
    '^alerts +none$' '^host '
check 'nothing else' code 1 grep -qE '^(warning|note) ' "$work/status"

#   ------------------------------------------------------------ a lost vote

#   With --hosted it ends with its router.
pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$(daemons "$2").pid"
}
end_lockd () {
    kill -9 "$(pid_of "$1" lockd)" && await gone_from "$1"
}
gone_from () {
    has h1 "^($1 .* (no|unknown)|  no lock service answers there)"
}
check 'a member is not there' end_lockd h3
check 'one more loss stops all: first of all' await begins h1 \
    '^warning +2 of 3 members can vote, and 2 are needed: one more loss stops'
check 'who is missing, and what to do' \
    grep -q 'all locks; missing: h3; start their daemons, or' "$work/status"
check 'its state file is lost' rm "$LOCKKEEPER_SANDBOX/h3/lock.state"
check 'it comes back' on h1 sandbox restart h3 "$(daemons lockd)"
for host in h1 h3; do
    check "no vote: $host says so" await has $host \
        '^warning +no vote, though a member is called so: h3; its state file'
    check 'ahead of all else, with what that means' begins $host \
        '^warning +2 of 3 members .* one more loss stops all locks$' \
        '^warning +no vote,'
    check 'and it is no member in the list' has $host '^h3 +no vote '
done
check 'as JSON' sh -c 'grep -q "\"host\":\"h3\",\"role\":\"no vote\"" "$1"' \
    sh <(on h1 status --json)
check 'what it advises: remove' on h1 cluster remove h3
check 'of two members both are needed' await has h1 \
    '^note +2 of 2 members needed: one loss stops all locks; of three'
check 'what it advises: add' on h1 cluster add h3
check 'all is well again' await begins h1 '^alerts +none$' '^host '
check 'on the host itself, too' await has h3 '^h3 .* ready '

#   ------------------------------------------------------------ domains

check 'no domain is known: no column' code 1 grep -q DOMAIN \
    <(on h1 cluster members)
check 'two of three members are at one place' await on h2 settings set \
    hosts/domain 'h1 au.perth.dh1' 'h2 au.perth.dh4' 'h3 nz'
in_domain () {
    on h1 cluster members >"$work/members"
    grep -qE "^$1 .*(leader|member) +$2 +seen$" "$work/members"
}
check 'the list of members says where each is' await in_domain h2 \
    'au\.perth\.dh4'
check 'also of those that do not lead' in_domain h3 nz
check 'as JSON' grep -q '"host":"h3",.*"domain":"nz"' \
    <(on h1 cluster members --json)
check 'the loss of that place would stop all locks: each host says so' await \
    begins h3 '^warning +2 of 3 members are in au\.perth: without it locks stop'
check 'and where each is' has h3 '^h1 .*(leader|member) +au\.perth\.dh1 +live '
check 'as JSON, too' grep -q '"host":"h1",[^}]*"domain":"au\.perth\.dh1"' \
    <(on h3 status --json)
check 'each at another place' await on h1 settings set \
    hosts/domain 'h1 au.perth' 'h2 fr' 'h3 nz'
check 'nothing is wrong with that' await begins h1 '^alerts +none$' '^host '
check 'and where they are it says' await has h1 '^h2 .* fr +live '

#   ------------------------------------------------------------ no quorum

check 'two are gone' sh -c 'kill -9 $1 $2' sh "$(pid_of h2 lockd)" \
    "$(pid_of h3 lockd)"
check 'nobody gets a lock: first of all' await begins h1 \
    '^warning +1 of 3 members can vote, and 2 are needed: nobody gets a lock'

#   ------------------------------------------------------------ no cluster

#   A host that is in no cluster; what else its router is told
start_lone () {
    "$BUILD/lockkeeper-router" --host lone --listen 'tcp://127.0.0.1:*' \
        --endpoint "ipc://$work/lone" "$@" 2>"$work/lone.log" &
    lone=$!
    "$BUILD/lockkeeper-lockd" --endpoint "ipc://$work/lone" --run "$work/run" \
        --state "$work/state" 2>"$work/lone.lockd" &
    lone="$lone $!"
}

end_lone () {
    # shellcheck disable=SC2086
    kill $lone
    # shellcheck disable=SC2086
    wait $lone
}

mkdir "$work/run" "$work/state"
start_lone
check 'in no cluster: init' await says 1 \
    'this host is in no cluster: stop the daemons, have `lockkeeper init' \
    "$lockkeeper" status --endpoint "ipc://$work/lone"
check 'ahead of all else' test "$(grep -n 'is in no cluster' "$work/said" |
    cut -d : -f 1)" = 1
end_lone
start_lone --neighbour 127.0.0.1:1
check 'nor, maybe, is who is awaited' await says 1 \
    'in no cluster: start 127.0.0.1:1, which may have one; else stop' \
    "$lockkeeper" status --endpoint "ipc://$work/lone"
end_lone
done_checking
