#!/bin/bash
#   far_finding.sh - how a machine without a router finds servers, and which one
#   it uses
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

work=$(mktemp -d "${TMPDIR:-/tmp}/far.XXXXXX") || exit 1
# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set 'router/listen-clients=tcp://127.0.0.1:*'
here=$(dirname "$0")
net=127.$((1 + $$ / 250 % 250)).$((1 + $$ % 250))
pids=()
finish_test () {
    kill -CONT "${pids[@]}" 2>/dev/null
    kill "${pids[@]}" 2>/dev/null
    rm -rf "$work"
}
trap finish_test EXIT

#   ------------------------------------------------------------ the machine

file=$work/client
client () {
    LOCKKEEPER_ENDPOINT='' "$lockkeeper" --client "$file" "$@"
}

#   settings DISCOVERY: all of them. There is one change in 10 seconds.
settings () {
    cat >"$work/settings" <<end
clients
    key = "m1 $(cat "$work/key")"
    discovery = $1
hosts
    domain = "h1 au.sydney"
    domain = "h2 au.perth.dh4"
    domain = "h3 au.perth.dh1"
end
    "$lockkeeper" settings edit "$work/settings"
}
#   Its pair, and as `key` and `port` what each host has. A host has the same
#   port after a restart.
declare -A key port
make_pair () {
    local host
    "$lockkeeper" client new "$file" >"$work/key" 2>/dev/null &&
        cp "$file" "$work/pair" && settings nobody &&
        "$lockkeeper" clients list >"$work/told" || return
    for host in h1 h2 h3; do
        port[$host]=$(sed -nE \
            "s/^server +$host +.*:([0-9]*) [^ ]* [0-9]+\$/\1/p" "$work/told")
        key[$host]=$(sed -nE \
            "s/^server +$host +[^ ]* ([^ ]*) [0-9]+\$/\1/p" "$work/told")
        sed -i "s|\(listen-clients\) .*|\1 = tcp://127.0.0.1:${port[$host]}|" \
            "$LOCKKEEPER_SANDBOX/$host/lockkeeper.conf" || return
    done
}
#   file LINE...: the client file has these.
file () {
    { cat "$work/pair" && printf '    %s\n' "$@"; } >"$file"
}
keys=()
all_keys () {
    local host
    for host in h1 h2 h3; do
        keys+=("server-key = \"${key[$host]}\"")
    done
}

#   hold NAME [COMMAND...]: holds that lock in the background, until $pid is
#   killed, maybe run by that command.
hold () {
    LOCKKEEPER_ENDPOINT='' "${@:2}" "$lockkeeper" --client "$file" run "$1" -- \
        sleep 600 2>"$work/held" &
    pid=$!
    pids+=("$pid")
    await is_held "$1" 'h[123]'
}
#   is_held NAME HOST: by the server HOST, a pattern, as the host $eye sees it.
eye=h1
is_held () {
    LOCKKEEPER_ENDPOINT=ipc://$LOCKKEEPER_SANDBOX/$eye/router \
        "$lockkeeper" list --object "$1" --json |
        grep -qE "\"far-[^\"]*@$2\""
}
server_of () {
    "$lockkeeper" list --object "$1" --json |
        sed -nE 's/.*"far-[^"]*@(h[123])".*/\1/p' | head -n 1
}
gives_back () {
    kill "$pid"
    wait "$pid"
    [ ! -s "$work/held" ] || {
        cat "$work/held"
        return 1
    }
}

pids_of () {
    cat "$LOCKKEEPER_SANDBOX/$1"/{router,lockd}.pid
}
restart () {
    "$lockkeeper" sandbox restart "$1" &&
        LOCKKEEPER_ENDPOINT=ipc://$LOCKKEEPER_SANDBOX/$1/router \
            "$lockkeeper" wait-ready --timeout 60
}

#   by_names NAME=ADDRESS... -- COMMAND...: where these are in /etc/hosts.
by_names () {
    local hosts
    hosts=$(mktemp "$work/hosts.XXXXXX")
    while [ "$1" != -- ]; do
        echo "${1#*=} ${1%%=*}" >>"$hosts"
        shift
    done
    shift
    # shellcheck disable=SC2016
    unshare -rm sh -c 'mount --bind "$0" /etc/hosts &&
        mount --bind "$1" /etc/resolv.conf && shift && exec "$@"' \
        "$hosts" "$work/resolv" "$@"
}
echo 'nameserver 127.0.0.1' >"$work/resolv"
has_names () {
    [ "$(by_names x=127.1.2.3 -- getent hosts x 2>/dev/null | cut -c 1-9)" = \
        127.1.2.3 ]
}
named () {
    by_names "$@" 2>&1
}

check 'the machine has its keys' make_pair
all_keys

#   ------------------------------------------------------------ a balancer

/usr/bin/python3 "$here/far_forward.py" "$net.1:7412" \
    "127.0.0.1:${port[h1]}" "127.0.0.1:${port[h2]}" "127.0.0.1:${port[h3]}" &
pids+=($!)
file "server = \"tcp://$net.1:7412 ${key[h1]}\"" \
    "server = \"tcp://$net.1:7412 ${key[h2]}\"" \
    "server = \"tcp://$net.1:7412 ${key[h3]}\""
check 'by a balancer' client wait-ready --timeout 30
check 'a lock' hold balanced
server=$(server_of balanced)
[ "$server" != h1 ] || eye=h2
mapfile -t killed < <(pids_of "$server")
kill -KILL "${killed[@]}"
goes_on () {
    local others=${server/h1/h[23]}
    others=${others/h2/h[13]}
    await is_held balanced "${others/h3/h[12]}"
}
check 'its server is killed: by another one' goes_on
check 'that is back' restart "$server"
server=$(server_of balanced)
eye=$([ "$server" = h1 ] && echo h2 || echo h1)
mapfile -t paused < <(pids_of "$server")
pids+=("${paused[@]}")
kill -STOP "${paused[@]}"
check 'its server stands still: by another one' goes_on
eye=h1
kill -CONT "${paused[@]}"
check 'it was never lost' gives_back

#   ------------------------------------------------------------ names

if has_names; then
    name=("lockkeeper=$net.1")
    file "${keys[@]}"
    cp "$file" "$work/two"
    file "${keys[0]}"
    cp "$file" "$work/one"
    cp "$work/two" "$file"
    check 'the default name' named "${name[@]}" -- env LOCKKEEPER_ENDPOINT= \
        "$lockkeeper" --client "$file" wait-ready --timeout 30
    check 'which has to be there' says 1 'its name does not resolve' \
        named x=127.0.0.1 -- "$lockkeeper" config verify --connect \
        --client "$work/one"
    /usr/bin/python3 "$here/far_forward.py" "$net.9:7412" \
        "127.0.0.1:${port[h2]}" &
    pids+=($!)
    file "server = \"tcp://locks:7412 ${key[h2]}\""
    for first in 8 9; do
        check "one of several addresses, $net.$first first" \
            named "locks=$net.$first" "locks=$net.$((17 - first))" -- \
            env LOCKKEEPER_ENDPOINT= "$lockkeeper" --client "$file" \
            wait-ready --timeout 30
    done
else
    echo '# names are left out: /etc/hosts cannot be another one here'
fi

#   ------------------------------------------------------------ the list

#   Keys as to any address.
file "${keys[@]}"
check 'endpoints on the command line' env LOCKKEEPER_ENDPOINT= \
    "$lockkeeper" --client "$file" run x \
    --endpoint "tcp://127.0.0.1:1,tcp://127.0.0.1:${port[h3]}" -- true
check 'all that come are told' settings authenticated
file "server = \"tcp://127.0.0.1:${port[h1]} ${key[h1]}\"" \
    'domain = au.perth.dh4.rack3'
check 'a lock' hold listed
check 'by the nearest, which the first one told of' await is_held listed h2
mapfile -t killed < <(pids_of h2)
kill -KILL "${killed[@]}"
check 'that is killed: by the next one up' await is_held listed h3
check 'that is back' restart h2
check 'which is told, and used' await is_held listed h2
check 'it was never lost' gives_back

#   ------------------------------------------------------------ its file

verify () {
    "$lockkeeper" config verify --client "$file" --connect
}
#   told CODE LINE...: that is all it says of them.
told () {
    local wanted=$1
    shift
    code "$wanted" verify >"$work/verified" || return
    diff <(echo "$file: right: its key is $(cat "$work/key")" &&
        printf '%s\n' "$@") "$work/verified"
}
good="knows our key, and registers us"
file "server = \"tcp://127.0.0.1:${port[h1]} ${key[h1]}\"" \
    "server = \"tcp://127.0.0.1:${port[h2]} ${key[h2]}\""
check 'a file that is right' told 0 \
    "tcp://127.0.0.1:${port[h1]}: right: host h1, $good" \
    "tcp://127.0.0.1:${port[h2]}: right: host h2, $good"
kill "$(cat "$LOCKKEEPER_SANDBOX/h2/lockd.pid")"
ended () {
    verify | grep -q 'right: host h2' && return 1 || return 0
}
check 'a lock service ends' await ended
file "server = \"tcp://127.0.0.1:1 ${key[h1]}\"" \
    "server = \"tcp://127.0.0.1:${port[h1]} ${key[h2]}\"" \
    "server = \"tcp://127.0.0.1:${port[h2]} ${key[h2]}\"" \
    "server = \"tcp://127.0.0.1:${port[h3]} ${key[h3]}\""
check 'each mistake' told 1 \
    'tcp://127.0.0.1:1: connection refused' \
    "tcp://127.0.0.1:${port[h1]}: it has another key than we know, or is no \
server of clients" \
    "tcp://127.0.0.1:${port[h2]}: no service 'lock' on host 'h2'" \
    "tcp://127.0.0.1:${port[h3]}: right: host h3, $good"
check 'as JSON' says 1 '"host":"h3","means":"knows our key' \
    "$lockkeeper" config verify --client "$file" --connect --json
"$lockkeeper" client new "$work/other" >/dev/null 2>&1
grep server "$file" >>"$work/other"
check 'a key that is not known' says 1 \
    "tcp://127.0.0.1:${port[h3]}: it does not know our key" \
    "$lockkeeper" config verify --connect --client "$work/other"
chmod 640 "$file"
check 'a file that others may read' says 1 'chmod 600' verify
chmod 600 "$file"
file 'domain = nz' 'domain-limit = nz' \
    "server = \"tcp://127.0.0.1:${port[h1]} ${key[h1]} au.sydney\""
check 'a look keeps within the limit, too' says 125 \
    "it is in au.sydney, outside of 'client/domain-limit' nz" client list
check 'a trial as well' says 1 "outside of 'client/domain-limit'" verify
file
check 'a file without servers' says 1 "has no 'client/server'" verify
check 'none' says 125 'cannot open the client file' \
    "$lockkeeper" config verify --client "$work/none"
done_checking
