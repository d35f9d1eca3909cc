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
# shellcheck source=tests/cluster/far_hosts_tap.sh
. "$(dirname "$0")/far_hosts_tap.sh"
here=$(dirname "$0")

serve_all

#   ------------------------------------------------------------ its file

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
for number in 1 2 3; do
    /usr/bin/python3 "$here/far_forward.py" "$net.10$number:7412" \
        "$net.$number:7412" &
    network+=($!)
    pids+=($!)
    server "h$number" "$net.10$number"
done
#   There is no way past that network, and h1 comes first.
printf '    %s\n' 'discovery = no' 'order = listed' >>"$file"
check 'a key that nobody knows' says 124 'it does not know our key' \
    client wait-ready --timeout 3
check 'which a list is told, too' says 125 \
    "no server serves us: 'tcp://$net.101:7412': it does not know our key; " \
    client list
add () {
    at h1 clients add m1 - "$@" <"$work/key" >"$work/lines" 2>"$work/aside"
}
#   Its stdout is the lines of the file, and nothing else.
added () {
    add "$@" && grep -q "$added_says" "$work/aside" && for host in $hosts; do
        key=$(sed -n 's/.*public-key = "\(.*\)"/\1/p' \
            "$work/$host/state/clients-keys")
        echo "    server = \"tcp://$net.${host#h}:7412 $key\""
    done | cmp - "$work/lines"
}
added_says='version 1 of the settings is in force'
check 'its key is added' added
added_says="client 'm1' has that key already"
check 'which may be said again' added
"$lockkeeper" client new "$work/other" >"$work/other.key" 2>/dev/null
check 'another key of that name is not' says 1 \
    "client 'm1' has another key: --replace takes that out" \
    at h1 clients add m1 "$(cat "$work/other.key")"
check 'but instead of it' says 0 \
    "withdrawn: the key of 'm1', $(cat "$work/key")" \
    at h1 clients add m1 --replace "$(cat "$work/other.key")"
check 'so the first one is let in no more' await says 125 \
    'it does not know our key' client list
added_says="withdrawn: the key of 'm1', "
check 'and once more the first one' added --replace
only_one () {
    at h1 clients list >"$work/list" &&
        ! grep -qF -- "$(cat "$work/other.key")" "$work/list"
}
check 'which is the only one' only_one
check 'locks can be had from there' client wait-ready --timeout 30
#   with_server 'ENDPOINT KEY' VERB...: it has that one alone.
with_server () {
    sed '/^    server/d' "$file" >"$work/wrong" && chmod 600 "$work/wrong" &&
        echo "    server = \"$1\"" >>"$work/wrong" &&
        LOCKKEEPER_ENDPOINT='' "$lockkeeper" --client "$work/wrong" "${@:2}"
}
mapfile -t keys < <(sed -n 's/^    server.*:7412 \(.*\)"/\1/p' "$file")
check 'another port: nobody is there' says 125 'connection refused; ' \
    with_server "tcp://$net.1:7413 ${keys[0]}" list
other_key='it has another key than we know, or is no server of clients'
check 'the port of routers is no server' says 125 "$net.1:7411': $other_key" \
    with_server "tcp://$net.1:7411 ${keys[0]}" list
check 'the key of another host is not that of h1' says 125 \
    "$net.1:7412': $other_key" \
    with_server "tcp://$net.1:7412 ${keys[1]}" run x -- true
check 'its own one is' with_server "tcp://$net.1:7412 ${keys[0]}" run x -- true
chmod 644 "$file"
check 'a file that others may read' says 125 'chmod 600' \
    client run x -- true
chmod 600 "$file"
check 'what is for hosts' says 125 'on a host of the cluster' client keys show
check 'so is an option' says 125 "'--full' is not to be had from" \
    client wait-ready --full

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
check 'which it says' grep -qF "lost 'cut': no server answered" "$work/cut.err"
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
