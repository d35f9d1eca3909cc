#!/bin/bash
#   cli_backup.sh - a cluster of which only a backup is left
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   All lock services end and their states go, but for that of h4, which is
#   stopped: it comes back later, as a member of before. Leases are short, so
#   that nothing takes long.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 4 --set lock/dead-after=500 \
    --set lock/leader-lease=1000 --set lock/host-lease=4000
box=$LOCKKEEPER_SANDBOX

#   lose HOST...: their lock services, and all that these knew.
lose () {
    local host
    for host; do
        kill -KILL "$(cat "$box/$host/lockd.pid")" || return 1
        await ended "$(cat "$box/$host/lockd.pid")"
        rm -f "$box/$host"/lock.{state,settings,journal}
    done
}

#   Its name is in a file, else restore would write one.
mkdir "$box/h1/lockkeeper.conf.d"
printf 'router\n    host = h1\n' >"$box/h1/lockkeeper.conf.d/name.conf"

#   restores CODE TEXT HOST FILE ARGUMENT...: what that says.
restores () {
    local code=$1 text=$2 host=$3 file=$4
    shift 4
    says "$code" "$text" "$lockkeeper" restore "$file" --host "$host" \
        --config "$box/$host/lockkeeper.conf" "$@" </dev/null
}
is_member () {
    on h1 cluster members | grep -qE "^$1 .*(leader|member) +seen"
}
token_of () {
    sed -n 's/.* token=//p' "$work/$1"
}

#   ------------------------------------------------------------ backup

await on h1 wait-ready --timeout 30
on h2 lock --static kept >"$work/kept" 2>/dev/null
on h2 lock --static --semaphore 3 --context c $'it\'s\n' >/dev/null 2>&1
start_on h4 run other -- sleep 1000 2>/dev/null
holder=$!
check 'somebody holds a lock' await is_listed held other
check 'settings' says 0 'in force' on h1 settings set settings/lock h1 h2
check 'a backup' says 0 "version 1 of the settings of cluster 'sandbox', \
4 members and 3 held locks, 2 of them static" on h3 backup "$work/one"
check 'for its owner alone' test "$(stat -c %a "$work/one")" = 600
check 'never over a file' says 125 'is not overwritten' on h3 backup \
    "$work/one"
check 'a line per lock' grep -qE \
    '^\{"object":"kept","type":"exclusive","static":true,"host":"h2",' \
    "$work/one"
check 'no key of one' code 1 grep -q "$(sed 's/key=\(.*\) .*/\1/' \
    "$work/kept")" "$work/one"
check 'to standard output' eval 'on h3 backup | grep -c . | grep -qx 5'
check 'one file' says 125 "'backup' takes one file" on h1 backup a b
check 'where it cannot be' says 125 "cannot make '/nowhere/file'" on h1 \
    backup /nowhere/file
check 'not to a full disk' says 125 "cannot write to stdout" \
    sh -c "LOCKKEEPER_ENDPOINT=ipc://$box/h1/router '$lockkeeper' backup \
        >/dev/full"

#   ------------------------------------------------------------ refused

check 'the service runs' restores 1 'this host is a member' h1 "$work/one"
check 'no backup' restores 125 'it is no backup' h1 "$box/h1/lockkeeper.conf"
head -n 3 "$work/one" >"$work/short"
check 'cut off' restores 125 'cut off, or changed' h1 "$work/short"
sed 's/lock = h2/lock = h9/' "$work/one" >"$work/changed"
check 'changed' restores 125 'cut off, or changed' h1 "$work/changed"
sed 's/^{"lockkeeper_backup":1/{"lockkeeper_backup":2/' "$work/one" \
    >"$work/later"
check 'of another version' restores 125 'it has format 2' h1 "$work/later"
check 'no file' says 125 "'restore' needs the file" on h1 restore

#   ------------------------------------------------------------ all is lost

kill -STOP "$(cat "$box/h4/lockd.pid")"
check 'three are lost' lose h1 h2 h3
"$BUILD/lockkeeper-lockd" --config "$box/h1/lockkeeper.conf" \
    2>"$work/proxy.log" &
proxy=$!
is_proxy () {
    [ -s "$box/h1/lock.state" ]
}
check 'a proxy' await is_proxy
check 'that runs' restores 125 'stop lockkeeper-lockd first' h1 "$work/one" \
    --cluster sandbox
kill -KILL $proxy
wait $proxy
check 'nobody says the name' restores 1 \
    'nothing is begun: --cluster NAME does it' h1 "$work/one"
check 'it is told what that is' grep -qx \
    "generation   1 of cluster 'sandbox'" "$work/said"
check 'who was a member' grep -qE '^formerly     .*h4' "$work/said"
check 'who held what' grep -qE '^exclusive +h4 .* other$' "$work/said"
check 'how to take a static lock again' grep -qxF \
    "    lockkeeper lock --static 'kept'" "$work/said"
# shellcheck disable=SC1003
check 'whatever it is called' grep -qxF "    lockkeeper lock \
--static --semaphore 3 --context 'c' \$'it\\047s\\012'" "$work/said"
check 'that recover loses less' grep -qF 'cluster recover' "$work/said"
check 'another name' restores 1 "the backup is of cluster 'sandbox'" h1 \
    "$work/one" --cluster demo
check 'with tokens that are not above' restores 1 'not above' h1 "$work/one" \
    --cluster sandbox --token-above 9007199254740991
check 'as another host' says 125 "says that this is host 'h1', not 'h7'" \
    sh -c "sed 's/^router\$/&\n    host = h1/' '$box/h1/lockkeeper.conf' \
        >'$work/conf'; '$lockkeeper' restore '$work/one' --host h7 \
        --config '$work/conf'"
check 'nothing was written' test ! -e "$box/h1/lock.settings"
check 'by the right one' restores 0 "'h1' is the only member of cluster \
'sandbox'" h1 "$work/one" --cluster sandbox
check 'not twice' restores 1 'loses less' h1 "$work/one" --cluster sandbox
on h1 sandbox restart h1 lockd >/dev/null
check 'locks can be had' on h1 wait-ready --timeout 60
has_settings () {
    [ "$(on "$1" settings get settings/lock 2>&1)" = $'h1\nh2' ]
}
check 'with the settings' has_settings h1
check 'no lock is there' says 0 'nobody holds' on h1 list
on h1 lock --static kept >"$work/new" 2>/dev/null
check 'tokens go on growing, whatever was elected since the backup' \
    test "$(token_of new)" -gt $(($(token_of kept) + (65536 << 32)))
check 'the generation is the next one' eval \
    'on h1 status --json | grep -q "\"generation\":1[,}]"'

#   ------------------------------------------------------------ the others

check 'another one comes' on h1 sandbox restart h2 lockd
check 'and becomes a member' await says 0 "'h2' is a member now" \
    on h1 cluster add h2
check 'it has the settings' await has_settings h2
kill -CONT "$(cat "$box/h4/lockd.pid")"
check 'one that lived hears of it' await gone $holder
check 'and joins by itself' await is_member h4
check 'with the settings' await has_settings h4
check 'which can be changed' says 0 'version 2 of the settings is in force' \
    on h2 settings set settings/lock h4

#   ------------------------------------------------------------ no leaders

for host in h2 h4; do
    kill -KILL "$(cat "$box/$host/lockd.pid")"
done
no_leaders () {
    rm -f "$work/none"
    says 1 'no leader has the list now' on h1 backup "$work/none"
}
check 'no backup without leaders' await no_leaders
check 'nor half of one' test ! -e "$work/none"
kill -KILL "$(cat "$box/h1/lockd.pid")"
check 'nor without a service' says 125 'is lockkeeper-lockd running' on h1 \
    backup "$work/none"
done_checking
