#!/bin/bash
#   far_library.sh - lockkeeper on a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Three hosts that serve, and between them and the machine a network that can
#   be cut.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
here=$(dirname "$0")
hosts='h1 h2 h3'
"$BUILD/lockkeeper-router" --help | grep -q listen-clients || {
    echo '1..0 # SKIP routers have no port for other machines'
    exit 0
}

for host in $hosts; do
    own "$host"
    sed -i "s|^    listen = .*|&\n    listen-clients = \"tcp://$net.${host#h}:7412\"|" \
        "$work/$host/conf"
done
check 'the first host' says 0 "'h1' is the first host" \
    init h1 --first --cluster one --plain
start h1
check 'locks can be had' at h1 wait-ready --timeout 90
for host in h2 h3; do
    check "$host joins" says 0 'is to join' init "$host" --join "$net.1"
    start "$host"
done
members () {
    [ "$(at h1 cluster members | grep -cE '^h[123] .*(leader|member)')" = 3 ]
}
check 'all are members' await members
check 'h3 is ready' at h3 wait-ready --timeout 90

#   ------------------------------------------------------------ its file

file=$work/client
client () {
    LOCKKEEPER_ENDPOINT='' "$lockkeeper" --client "$file" "$@"
}
new_client () {
    "$lockkeeper" client new "$file" >"$work/key" 2>"$work/hint" &&
        grep -qF "clients add" "$work/hint" &&
        [ "$(stat -c %a "$file")" = 600 ]
}
check 'a client file' new_client
check 'which is not made anew' says 125 'file exists' \
    "$lockkeeper" client new "$file"
check 'it names no server yet' says 125 "no 'client/server'" \
    client run x -- true
network=()
for host in $hosts; do
    number=${host#h}
    /usr/bin/python3 "$here/far_forward.py" "$net.10$number:7412" \
        "$net.$number:7412" &
    network+=($!)
    pids+=($!)
    key=$(sed -n 's/.*public-key = "\(.*\)"/\1/p' "$work/$host/state/clients-keys")
    echo "    server = \"tcp://$net.10$number:7412 $key\"" >>"$file"
done
echo '    discovery = no' >>"$file" # there is no way past that network
check 'a key that nobody knows' says 124 'it does not know our key' \
    client wait-ready --timeout 3
check 'its key is added' at h1 clients add m1 "$(cat "$work/key")"
check 'locks can be had from there' client wait-ready --timeout 30
chmod 644 "$file"
check 'a file that others may read' says 125 'chmod 600' \
    client run x -- true
chmod 600 "$file"
check 'what is for hosts' says 125 'on a host of the cluster' client keys show

#   ------------------------------------------------------------ locks

check 'a command under a lock' code 7 client run free -- sh -c 'exit 7'
check 'what another one holds' code 124 \
    at h2 run busy -- "$lockkeeper" --client "$file" run busy --wait 0 -- true
check 'and the other way round' code 124 client run busy -- \
    env LOCKKEEPER_CLIENT= LOCKKEEPER_ENDPOINT="ipc://$work/h2/router" \
    "$lockkeeper" run busy --wait 0 -- true
token_there () {
    # shellcheck disable=SC2016
    client run checked -- sh -c '"$0" check checked "$LOCKKEEPER_TOKEN"' \
        "$lockkeeper"
}
check 'its token is good' says 0 'held newest=' token_there
check 'a list' client list

#   ------------------------------------------------------------ a server dies

#   beat FILE: a command that says every tenth of a second that it works, until
#   FILE.end is there.
# shellcheck disable=SC2016
beat='while [ ! -e "$0.end" ]; do
          cut -d " " -f 1 /proc/uptime >>"$0"
          sleep 0.1
      done'
begin () {
    client run moved -- sh -c "$beat" "$work/moved" 2>"$work/moved.err" &
    job=$!
    await test -s "$work/moved"
}
#   goes_on SECONDS: its beats do.
goes_on () {
    sleep "$1"
    local before
    before=$(wc -l <"$work/moved")
    sleep 1
    [ "$(wc -l <"$work/moved")" -gt "$before" ] || {
        cat "$work/moved.err"
        return 1
    }
}
check 'it holds a lock' begin
kill -9 "${router[1]}" "${lockd[1]}"
check 'and its server dies: it goes on' goes_on 12
check 'and nothing is said' test ! -s "$work/moved.err"
check 'nobody else has it' code 124 \
    at h2 run moved --wait 0 -- true
wait "${router[1]}" "${lockd[1]}" 2>/dev/null
start h1
check 'the server comes back' at h1 wait-ready --timeout 90
kill -STOP "${network[1]}"
check 'the next one is not heard any more: it goes on' goes_on 12
check 'and nothing is said' test ! -s "$work/moved.err"
kill -CONT "${network[1]}"
touch "$work/moved.end"
check 'its end' wait "$job"

#   ------------------------------------------------------------ cut off

next () {
    at h2 run cut -- sh -c "$beat" "$work/next"
}
begin_cut () {
    client run cut -- sh -c "$beat" "$work/cut" 2>"$work/cut.err" &
    job=$!
    await test -s "$work/cut"
}
check 'it holds another' begin_cut
next &
other=$!
kill -STOP "${network[@]}"
check 'it is cut off from all: the next one comes' await test -s "$work/next"
check 'it was lost' code 122 wait "$job"
check 'which it says' grep -q "lost 'cut'" "$work/cut.err"
in_order () {
    local last first
    last=$(tail -n 1 "$work/cut")
    first=$(head -n 1 "$work/next")
    awk "BEGIN { exit !($last < $first) }" || {
        echo "one worked at $last, the next at $first"
        return 1
    }
}
check 'it was stopped before the next one began' in_order
kill -CONT "${network[@]}"
touch "$work/next.end"
check 'the next one ends' wait "$other"
check 'and all is free again' client run cut --wait 30 -- true
done_checking
