# shellcheck shell=bash
#   own_hosts_tap.sh - hosts with folders and addresses of their own
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced behind cli_tap.sh by tests of init, joining and keys. Addresses are
#   of the test alone: 127.0.0.0/8, by the number of its process. Ends what is
#   in pids when the test ends.

net=127.$((1 + $$ / 250 % 250)).$((1 + $$ % 250))
pids=()
finish_test () {
    kill "${pids[@]}" 2>/dev/null
    rm -rf "$work"
}
trap finish_test EXIT

#   own H: the configuration of that host ahead of init, and nothing else.
own () {
    rm -rf "${work:?}/$1"
    mkdir -p "$work/$1/run"
    cat >"$work/$1/conf" <<end
#   made by hand
router
    identity = "$work/$1/state/identity"
    endpoint = "ipc://$work/$1/router"
    listen = "tcp://$net.${1#h}:7411"
lock
    endpoint = "ipc://$work/$1/router"
    state = "$work/$1/state"
    run = "$work/$1/run"
end
}
#   init H OPTIONS...: without a terminal, by its name and address.
init () {
    local host=$1
    shift
    "$lockkeeper" init --config "$work/$host/conf" --host "$host" \
        --address "$net.${host#h}" "$@"
}
#   start H, or its router alone; stop H, in good order.
start_router () {
    "$BUILD/lockkeeper-router" --config "$work/$1/conf" \
        2>>"$work/$1/router.log" &
    router[${1#h}]=$!
    pids+=($!)
}
start () {
    start_router "$1"
    "$BUILD/lockkeeper-lockd" --config "$work/$1/conf" \
        2>>"$work/$1/lockd.log" &
    lockd[${1#h}]=$!
    pids+=($!)
}
stop () {
    kill "${lockd[${1#h}]}"
    wait "${lockd[${1#h}]}"
    kill "${router[${1#h}]}"
    wait "${router[${1#h}]}"
}
at () {
    local host=$1
    shift
    LOCKKEEPER_ENDPOINT=ipc://$work/$host/router "$lockkeeper" "$@"
}
#   key_of H: that in use there.
key_of () {
    at "$1" keys show | sed -n 's/^in use *[^ ]* *//p'
}
#   joins H: invited by h1.
joins () {
    at h1 invite | init "$1" --join --invitation -
}
