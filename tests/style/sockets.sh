#!/bin/bash
#   sockets.sh - every socket of the bus is libzmq's
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   What makes, binds, connects or accepts a socket stands in the files below
#   alone, each of which is no bus. libzmq's and CZMQ's headers are
#   layers.sh's.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

calls='socket|socketpair|connect|bind|accept4?|listen|shutdown|getpeername'
calls+='|send(to|m?msg)?|recv(from|m?msg)?|[gs]etsockopt|getsockname'

#   FILE CALLS: with those, for the reason beside it.
known=(
    #   The service manager's datagram: READY=1 and its kin.
    'src/daemon/notify.c socket sendto'
    #   Which of this host's own addresses leads to another: nothing is sent.
    'src/settings/own_address.c socket connect getsockname'
    #   Whether a port of the sandbox is free.
    'src/cli/sandbox/hosts.c socket bind'
    #   The sandbox's own control, a file of who began it.
    'src/cli/sandbox/control.c socket setsockopt bind listen accept4'
    'src/cli/sandbox/control.c connect send'
    #   Descriptors handed to the agent of `acquire`, which zmq cannot carry.
    'src/cli/lock/agent.c socket getsockopt setsockopt bind listen'
    'src/cli/lock/agent.c accept4 connect'
    'src/cli/lock/agent.c send sendmsg recv recvmsg'
    #   The pair of `run` and its guard, which outlives it.
    'src/cli/run/guard.c socketpair send'
    #   Stands in for accept4, that libzmq calls, and asks for which port.
    'router/shell/accept.c accept4 getsockname'
    #   From where one that was accepted there comes.
    'router/shell/peer_address.c getpeername'
    #   Hangs up on a connection of libzmq's that says nothing: it cannot.
    'router/shell/newcomers.c shutdown'
)

#   file:line:call of each, without comments and names that end so.
found () {
    find src router plugins arbiter -name '*.c' | sort | xargs awk -v calls="$calls" '
        /^ ?\*|^ *\/\*/ { next }
        {
            line = $0
            while (match (line, "(^|[^A-Za-z0-9_])(" calls ") \\(")) {
                call = substr (line, RSTART, RLENGTH - 2)
                sub (/^[^A-Za-z]/, "", call)
                print FILENAME ":" FNR ":" call
                line = substr (line, RSTART + RLENGTH)
            }
        }'
}

verdict 'sockets of the bus are libzmq'\''s' "$(
    found | while IFS=: read -r file line call; do
        for entry in "${known[@]}"; do
            [[ $entry = "$file "* && " ${entry#* } " = *" $call "* ]] &&
                continue 2
        done
        echo "$file:$line: $call (): a socket of our own"
    done)"

verdict 'no exception is left behind' "$(
    all=$(found)
    for entry in "${known[@]}"; do
        for call in ${entry#* }; do
            grep -q "^${entry%% *}:[0-9]*:$call\$" <<<"$all" ||
                echo "${entry%% *}: does not call $call () any more"
        done
    done)"
done_checking
