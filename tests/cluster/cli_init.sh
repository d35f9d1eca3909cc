#!/bin/bash
#   cli_init.sh - lockkeeper init: the first host, one that joins, questions
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   All addresses are this host's, so that each router has to be told its own.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"

#   init H OPTIONS...: without a terminal, or what is not said.
init () {
    local host=$1
    shift
    "$lockkeeper" init --config "$work/$host/conf" "$@" </dev/null
}
first=(--first --cluster one --host h1 --address "$net.1" --plain)
for host in h1 h2 h3 h4 h5 h6; do own $host; done

#   ------------------------------------------------------------ what is missing

check 'nothing said' says 125 '--first or --join ADDRESS... is missing' init h1
check 'no cluster' says 125 '--cluster is missing' init h1 --first
check 'no address' says 125 'an ADDRESS behind --join is missing' \
    init h1 --join
check 'both' says 125 'the --first, or does --join' init h1 --first --join
check 'first of others' says 125 'addresses are for --join' \
    init h1 "${first[@]}" "$net.2"
check 'joins by name' says 125 '--cluster is for --first' \
    init h1 --join "$net.1" --cluster one
check 'a first one that is unseen' says 125 'are for --join' \
    init h1 "${first[@]}" --unseen
check 'no name' says 125 'is no name of a host' init h1 --first --cluster one \
    --host 'h 1'
check 'no name of a cluster' says 125 'is no name of a cluster' init h1 \
    --first --cluster 'o ne'
check 'no such address' says 125 'is no address: HOST:PORT' init h1 \
    --join 10.0.0.1:0
check 'folders are in the file' says 125 'lock/state' init h1 "${first[@]}" \
    --state "$work/other"
check 'nothing was written' test ! -e "$work/h1/state"

#   ------------------------------------------------------------ the first

cp "$work/h1/conf" "$work/before"
check 'shown' says 0 "the only member of the new cluster 'one'" \
    init h1 "${first[@]}" --dry-run
check 'and not written' test ! -e "$work/h1/state"
check 'nor the file' cmp "$work/before" "$work/h1/conf"
check 'the first host' says 0 "    lockkeeper init --join $net.1:7411" \
    init h1 "${first[@]}"
check 'its state is for us alone' \
    test "$(stat -c %a "$work/h1/state" "$work/h1/state/lock.state" \
    "$work/h1/state/identity" | tr '\n' ' ')" = '700 600 600 '
check 'its name is kept' grep -qx 'host = h1' "$work/h1/state/identity"
check 'the file has its address' grep -qx \
    "    neighbour = \"$net.1:7411\"" "$work/h1/conf"
check 'and what it had' grep -q '^#   made by hand' "$work/h1/conf"
find "$work/h1" -type f -exec cksum {} + | sort >"$work/sums"
check 'once more' says 0 'nothing to do' init h1 "${first[@]}"
check 'another cluster' says 125 "member of cluster 'one' already" \
    init h1 --first --cluster two --host h1 --address "$net.1"
check 'joins another' says 125 "member of cluster 'one' already" \
    init h1 --join "$net.9" --host h1 --address "$net.1" --unseen
check 'another name' says 125 "says that this is host 'h1', not 'h9'" \
    init h1 --first --cluster one --host h9 --address "$net.1"
check 'none of these wrote' diff "$work/sums" \
    <(find "$work/h1" -type f -exec cksum {} + | sort)

#   ------------------------------------------------------------ who is there

join=(init h2 --host h2 --address "$net.2" --join)

#   A server that says nothing, and one of another kind.
python3 - "$net.8" <<'end' &
import socket, sys, threading
def serve(port, text):
    with socket.create_server((sys.argv[1], port)) as server:
        kept = []
        while True:
            kept.append(server.accept()[0])
            kept[-1].sendall(text)
for port, text in ((22, b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n" * 9), (80, b"")):
    threading.Thread(target=serve, args=(port, text)).start()
end
pids+=($!)
check 'nobody is there' says 125 \
    "no router at '$net.1:7411': cannot connect: connection refused; start" \
    "${join[@]}" "$net.1"
check 'and how to join later' grep -q 'with --unseen it is' "$work/said"
check 'no such name' says 125 'its name does not resolve' \
    "${join[@]}" nobody.invalid
check 'another server' await says 125 'does not answer' \
    "${join[@]}" "$net.8:22"
check 'a silent one' await says 125 'does not answer' "${join[@]}" "$net.8:80"
check 'itself alone' says 125 "'$net.2:7411' is the address of this host" \
    "${join[@]}" "$net.2"
start h1
check 'locks can be had' at h1 wait-ready --timeout 90
check 'a name that is taken' says 125 \
    "a host 'h1' is there already, at '$net.1:7411'" \
    init h2 --host h1 --address "$net.2" --join "$net.1"
check 'nothing was written' test ! -e "$work/h2/state"

#   ------------------------------------------------------------ joining

check 'would join' says 0 'the wish to become a member' \
    "${join[@]}" "$net.1" --dry-run
check 'joins' says 0 "'h2' is to join cluster 'one'" "${join[@]}" "$net.1"
check 'what to do next' grep -q 'systemctl enable --now lockkeeper-router' \
    "$work/said"
check 'without a state' test ! -e "$work/h2/state/lock.state"
check 'knows both' test "$(grep -c neighbour "$work/h2/conf")" = 2
check 'joins once more' says 0 'nothing to do' "${join[@]}" "$net.1"
start h2
check 'the first lock' says 0 mine at h2 run it --wait 90 -- echo mine
check 'on the second host, too' at h2 wait-ready --timeout 90
#   member H: it is one.
member () {
    at h1 cluster members | grep -q "^$1 .*\(leader\|member\)"
}
check 'it becomes a member by itself' await member h2
check 'and says so' await grep -q "joined: a member of cluster 'one' now" \
    "$work/h2/lockd.log"
check 'no wish is left' test ! -e "$work/h2/state/join"
check 'joins as a member' says 0 'nothing to do' "${join[@]}" "$net.1"
cp "$work/h1/conf" "$work/before"
check 'the first one does not join' says 125 \
    "this host is a member of cluster 'one' already, and has not to join it" \
    init h1 --host h1 --address "$net.1" --join "$net.2"
check 'and its file stays' cmp "$work/before" "$work/h1/conf"

check 'a name that the second has' says 125 \
    "a host 'h2' is there already, at '$net.2:7411'" \
    init h6 --host h2 --address "$net.6" --join "$net.1"
check 'as a proxy, by one of two' says 0 "lockkeeper cluster add h6" \
    init h6 --host h6 --address "$net.6" --join "$net.9" "$net.2" --proxy
check 'the other one does not answer' grep -q "no router at '$net.9:7411'" \
    "$work/said"
start h6
check 'locks can be had on a proxy' at h6 wait-ready --timeout 90
#   linked H OTHER
linked () {
    at "$1" status | grep -q "^$2 .* live "
}
check 'it is linked with the one it was not told' await linked h6 h1
check 'and that with it' await linked h1 h6
check 'all of them answer there' await at h6 status
sleep 4
check 'it stays one' test -z "$(at h1 cluster members | grep '^h6' |
    grep -v proxy)"

#   ------------------------------------------------------------ two clusters

check 'the first of another' says 0 "first host of cluster 'two'" \
    init h5 --first --cluster two --host h5 --address "$net.5" --plain
start h5
check 'has locks' at h5 wait-ready --timeout 90
check 'joins two' says 125 "a host joins one" \
    init h3 --host h3 --address "$net.3" --join "$net.1" "$net.5"
check 'a proxy of another' says 125 \
    "this host served cluster 'one' as a proxy, and that is cluster 'two'" \
    init h6 --host h6 --address "$net.6" --join "$net.5"
check 'a member of another' says 125 \
    "this host is a member of cluster 'one' already" \
    "${join[@]}" "$net.5"
check 'a proxy that wants more' says 0 'it becomes a member, with a vote' \
    init h6 --host h6 --address "$net.6" --join "$net.1"
check 'its daemons run' grep -q 'systemctl restart' "$work/said"
check 'cluster add --json' says 0 '{"host":"h6","member":true}' \
    at h1 cluster add h6 --json
check 'cluster remove --json' says 0 '{"host":"h6","member":false}' \
    at h1 cluster remove h6 --json

#   ------------------------------------------------------------ questions

#   asks FILE H OPTIONS...: with what is in the file typed at a terminal.
asks () {
    local file=$1 host=$2
    shift 2
    timeout 90 script -qec \
        "'$lockkeeper' init --config '$work/$host/conf' $*" /dev/null <"$file"
}
printf '%s\n' maybe first one '' 192.0.2.7 "$net.3" no >"$work/answers"
sed -i '/listen/d' "$work/h3/conf"
check 'asked, and not wanted' says 125 'nothing was written' \
    asks "$work/answers" h3
check 'what was no answer' grep -q "'first' or 'join', not 'maybe'" "$work/said"
check 'what is not of this host' grep -q "'192.0.2.7:7411' is no address of" \
    "$work/said"
check 'a proposal' grep -q "this host in the cluster \[..*\]: " "$work/said"
check 'what would be written' grep -q "lock.state: the only member" "$work/said"
check 'it was not' test ! -e "$work/h3/state"
printf '%s\n' '' "$net.3" yes >"$work/answers"
check 'asked for what is missing only' says 0 'first host of cluster' \
    asks "$work/answers" h3 --first --host h3 --plain
check 'with what was proposed' grep -q '"cluster": "lockkeeper"' \
    "$work/h3/state/lock.state"
printf 'join\n' >"$work/answers"
check 'no more answers' says 125 'nothing was written' \
    asks "$work/answers" h4 --host h4

#   ------------------------------------------------------------ what is there

mkdir "$work/h4/conf.d"
printf 'router\n    neighbour = "%s:1"\n' "$net.9" >"$work/h4/conf.d/a.conf"
check 'neighbours in a drop-in' says 125 'add those of the cluster there' \
    init h4 --join "$net.1" --host h4 --address "$net.4" --unseen
echo nonsense here >"$work/h4/conf.d/a.conf"
check 'a file with mistakes' says 125 "a.conf', line 1" \
    init h4 --join "$net.1" --host h4 --address "$net.4" --unseen
rm -r "$work/h4/conf.d"
sed -i "s/^router\$/&\n    host = h7/" "$work/h4/conf"
check 'a name in the file' says 125 "the configuration says that this is host" \
    init h4 --join "$net.1" --host h4 --address "$net.4" --unseen
check 'is taken' says 0 "'h7' is to join" \
    init h4 --join "$net.1" --address "$net.4" --unseen
check 'and not kept elsewhere' test ! -e "$work/h4/state/identity"
done_checking
