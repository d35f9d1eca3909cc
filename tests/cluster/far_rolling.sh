#!/bin/bash
#   far_rolling.sh - hosts that serve other machines are restarted in turn
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Each leaves first: those that it served have gone elsewhere by then, and are
#   sent there by no list until it is back.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
# shellcheck source=tests/cluster/far_hosts_tap.sh
. "$(dirname "$0")/far_hosts_tap.sh"

serve_all
check 'a client file' "$lockkeeper" client new "$file"
key=$(sed -n 's/.*public-key = "\(.*\)"/\1/p' "$file")
for number in 1 2 3; do
    server "h$number" "$net.$number"
done
echo '    order = listed' >>"$file"
check 'its key is added' at h1 clients add m1 "$key"
check 'locks can be had from there' client wait-ready --timeout 30

#   server_of LOCK: where its holder is registered.
server_of () {
    at h3 list --object "$1" --json |
        sed -nE 's/.*"far-[^"]*@(h[123])".*/\1/p' | head -n 1
}
served_by () {
    [ "$(server_of "$1")" = "$2" ]
}
served_elsewhere () {
    local server
    server=$(server_of "$1")
    [ -n "$server" ] && [ "$server" != "$2" ]
}

client run kept -- sh -c 'sleep 1000' 2>"$work/kept" &
kept=$!
pids+=("$kept")
check 'a lock is held there, by h1' await served_by kept h1
#   One after the other until there is the file.
try () {
    while [ ! -e "$work/tried" ]; do
        client run --wait 20 tried -- true || return
    done
}
try 2>"$work/tries" &
tries=$!
pids+=("$tries")

for host in $hosts; do
    check "$host leaves, and serves no other machine" says 0 \
        "$host leads nothing: restart or stop it" at "$host" leave
    check 'its applications are served elsewhere' served_elsewhere kept "$host"
    check 'so are those to come' client run other -- true
    stop "$host"
    start "$host"
    check "$host is back" at "$host" wait-ready --full --timeout 90
done
touch "$work/tried"
check 'no request failed' wait "$tries"
check 'nobody was told anything' test ! -s "$work/tries"
check 'the lock is still held' kill -0 "$kept"
check 'by the same command' test ! -s "$work/kept"

#   ------------------------------------------------------------ nowhere to go

sed '/:7412/{/h1\|'"$net"'\.1:/!d}' "$file" >"$work/one"
echo '    discovery = no' >>"$work/one"
chmod 600 "$work/one"
LOCKKEEPER_ENDPOINT='' "$lockkeeper" --client "$work/one" run stays -- \
    sleep 1000 2>/dev/null &
pids+=($!)
check 'one knows no other server' await served_by stays h1
check 'which is told' says 0 \
    'still serves 1 application on other machines: restart or stop it' \
    at h1 leave
check 'and serves it' served_by stays h1
done_checking
