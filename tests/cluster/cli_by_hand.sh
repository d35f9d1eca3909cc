#!/bin/bash
#   cli_by_hand.sh - the commands of lockkeeper-router(8), on four new hosts
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   SETTING UP A CLUSTER BY HAND, word for word but for the host's name.
#   Each host has namespaces, with /etc, /run, /var/lib and /usr/local/bin of
#   its own, a name, and the address of the page, at a bridge. Where that is
#   not permitted (it takes root, and a second user), nothing is tried.

page=$(cd "$(dirname "$0")/../../man" && pwd)/lockkeeper-router.8 || exit 1
# shellcheck source=tests/cluster/hand_tap.sh
. "$(dirname "$0")/hand_tap.sh"

#   block N: the Nth block of commands in the section.
block () {
    awk -v wanted="$1" '
        /^\.Sh/ { here = /SETTING UP A CLUSTER BY HAND/ }
        here && /^\.Bd/ { number++; inner = 1; next }
        /^\.Ed/ { inner = 0 }
        here && inner && number == wanted { gsub (/\\e/, "\\"); print }' "$page"
}

hosts 1 2 3 4
cd "$work" || exit 1

#   follow HOST N: the commands of that block. What they start goes on.
follow () {
    local commands
    commands=$(block "$2")
    [ -n "$commands" ] || return 1
    at "$1" sh -ec "$commands" >>"/mnt/$1/said" 2>&1 </dev/null ||
        ! cat "/mnt/$1/said"
}

#   member HOST: the members know it as one.
member () {
    at h1 lockkeeper cluster members | grep -q "^$1 .*\(member\|leader\) "
}

at h1 lockkeeper-router >"$work/early" 2>&1
check 'before that the router says what is missing' grep -q \
    "there is no folder '/var/lib/lockkeeper'; make it" "$work/early"
for host in h1 h2 h3 h4; do
    check "$host: user and folders" follow $host 1
done
check 'h1: the first' follow h1 2
check 'h1: its files are the daemons'"'" test \
    "$(at h1 sh -c 'stat -c %U /var/lib/lockkeeper/*' | sort -u)" = lockkeeper
check 'h1: router and lock service' follow h1 3
check 'h1: locks can be had' at h1 lockkeeper wait-ready --timeout 90
for host in h2 h3; do
    check "$host: is invited" follow h1 4
    check "$host: joins" follow $host 5
    check "$host: router and lock service" follow $host 3
    check "$host: becomes a member" await member $host
done
for host in h1 h2 h3; do
    check "$host: as the page says" follow $host 6
    check "$host: the command ran" grep -qx mine "/mnt/$host/said"
    check "$host: the same file" follow $host 7
done
check 'all see each other' await says 0 'sees         h2 h1 h3' \
    at h2 lockkeeper status
check 'the files are right' at h3 lockkeeper config verify
#   Another host, later.
check 'h4: is invited' follow h1 4
check 'h4: joins' follow h4 5
check 'h4: router and lock service' follow h4 3
check 'h4: becomes a member' await member h4
check 'h4: locks can be had' at h4 lockkeeper wait-ready --timeout 90
check 'h4: as the page says' follow h4 6
check 'four members' await says 0 '4 members, 4 seen, 3 needed' \
    at h2 lockkeeper cluster members
join="as root \`usermod -aG lockkeeper nobody\`"
check 'who is not in the group may not' \
    says 125 "is not in its group 'lockkeeper': $join" \
    at h1 runuser -u nobody -- lockkeeper status
check 'who is may' at h1 sh -ec 'usermod -aG lockkeeper nobody
    runuser -u nobody -- lockkeeper run backup -- true'
done_checking
