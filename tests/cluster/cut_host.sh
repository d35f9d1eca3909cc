#!/bin/bash
#   cut_host.sh - a host is cut off silently, whole or one way, and heals
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   How long others wait, with the leases that are the default, is printed.
#   Where cuts cannot be had (hosts.sh), a host's daemons are stopped with
#   SIGSTOP instead. CUT_ALL=1 does one cut more.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
dead_after_ms=1000 leader_lease_ms=2000 host_lease_ms=8000
make_hosts 3

#   ------------------------------------------------------------ cuts

#   sever HOST HOW: prints when it began.
sever () {
    local host=$1 how=$2 others
    others=$(others_of "$host")
    if [ "$mode" = loopback ]; then
        pause "$host" router lockd
        return
    fi
    "$history" now
    case $how in
        whole) cut "$host" "$others" ;;
        deaf)
            one_way "$others" "$host"
            note_fault "$host" deaf
            ;;
        mute) one_way "$host" "$others" ;;
        link) one_way "$host" "${others%% *}" ;;
    esac
}

mend () {
    if [ "$mode" = loopback ]; then
        resume "$1" router lockd
    else
        heal
    fi
}

#   ------------------------------------------------------------ applications

#   steady TURN HOST...: at something new each time.
steady () {
    local turn=$1 host number
    shift
    objects=()
    for host in "$@"; do
        start_load "steady-$host" "$host" --style steady \
            --object "$host.$turn." --objects 6 --rest "$rest_ms"
        for number in 0 1 2 3 4 5; do
            objects+=("$host.$turn.$number")
        done
    done
    check "those on $* are at work" await go_on 0 "${objects[@]}"
}

#   grants_go_on TITLE FROM: of the steady ones, while somebody is cut off.
grants_go_on () {
    sleep 3
    check "$1: grants go on" await go_on "$("$history" now)" "${objects[@]}"
    echo "measured: $1 -> grants go on:" \
        "$(longest_pause "$2" "${objects[@]}") ms"
}

stop_steady () {
    # shellcheck disable=SC2046
    stop_loads $(names_of steady)
}

came_back () {
    local from
    from=$("$history" now)
    mend "$1"
    check 'healed: all are ready again' hosts_get all_ready
    echo "measured: healed -> all ready:" \
        "$(ms_from "$from" "$("$history" now)") ms"
}

#   ------------------------------------------------------------ a whole host

#   Its own home, a leader, and a holder are cut off; others wait for what
#   is held there, and hold something themselves.
victim=$(LOCKKEEPER_ENDPOINT=ipc://$where/h1/router "$lockkeeper" \
    status --object gone | awk '$1 == "home" { print $2 }')
read -ra others < <(others_of "$victim")
start_load holder "$victim" --style hold --object gone
check 'a holder on the host' await happened granted gone
start_load waiter "${others[0]}" --style hold --object gone
start_load keeper "${others[1]}" --style hold --object kept
check 'a holder elsewhere' await happened granted kept
steady 1 "${others[@]}"
began=$(sever "$victim" whole)
grants_go_on "leader's host cut off silently" "$began"
check 'no answer is missing' stop_steady
check 'the one who waited for the lock of the cut off holder has it' \
    await happened granted gone "$began"
next=$(happened granted gone "$began")
if [ "$mode" = namespaces ]; then
    check 'the holder was told: it is isolated' await \
        grep -q ' lost .* gone .* isolated$' "$work/$victim-holder.history"
    told=$(happened lost gone "$began")
    echo "measured: holder cut off: told after $(ms_from "$began" "$told")" \
        "ms, another got the lock after $(ms_from "$began" "$next") ms"
fi
came_back "$victim"
check 'every application got its answers' stop_loads "${!loads[@]}"

#   ------------------------------------------------------------ one way

#   cut_one_way HOW TITLE HOST...: cut that way, with applications at HOST...
turn=2
cut_one_way () {
    local how=$1 title=$2 host=${hosts[turn % 3]}
    check "$title: three leaders" hosts_get all_full
    read -ra others < <(others_of "$host")
    if [ "$how" = link ]; then
        steady $turn "${hosts[@]}"
    else
        steady $turn "${others[@]}"
    fi
    turn=$((turn + 1))
    began=$(sever "$host" "$how")
    grants_go_on "$title" "$began"
    came_back "$host"
    check "$title: every application got its answers" stop_steady
}

if [ "$mode" = namespaces ]; then
    cut_one_way mute 'a host that nobody hears'
    cut_one_way link 'a link that is dead one way'
    [ -z "${CUT_ALL:-}" ] || cut_one_way deaf 'a host that hears nobody'
fi

finish_test
