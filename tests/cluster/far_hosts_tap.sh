# shellcheck shell=bash
#   far_hosts_tap.sh - hosts that serve applications on other machines (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced behind own_hosts_tap.sh. A client file is $file.

file=$work/client
hosts='h1 h2 h3'

#   serve_all: all members, each with a port for clients, 7412.
serve_all () {
    local host
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
    check 'all are members' await all_are_members
    check 'h3 is ready' at h3 wait-ready --timeout 90
}
all_are_members () {
    [ "$(at h1 cluster members | grep -cE '^h[123] .*(leader|member)')" = 3 ]
}

#   server H ADDRESS: into the client file.
server () {
    local key
    key=$(sed -n 's/.*public-key = "\(.*\)"/\1/p' "$work/$1/state/clients-keys")
    echo "    server = \"tcp://$2:7412 $key\"" >>"$file"
}

#   client WORDS...: lockkeeper, by the client file.
client () {
    LOCKKEEPER_ENDPOINT='' "$lockkeeper" --client "$file" "$@"
}
