#!/bin/bash
#   faults_run.sh - no command of `lockkeeper run` works beside its successor
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   faults_run.sh [SEED]; ROUNDS=N faults, each at the host that has the lock:
#   it is cut off, or its lock service, its router, `run`, its guard or all of
#   them are stopped or killed, or the lock service is stopped in good order.
#   The command, and what it has forked, writes all the time to a file that all
#   hosts share; a line behind one of a later token is an overlap. Without
#   `run` the same has to show some, or this test could not fail.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
seed=${1:-$((RANDOM * 32768 + RANDOM))}
rounds=${ROUNDS:-6}
echo "# $0 $seed"
dead_after_ms=400 leader_lease_ms=800 host_lease_ms=3200
beats=$BUILD/tests/cluster/beats
file=$work/beats
make_hosts 3

faults=(cut lockd router 'lockd router' run 'run lockd' 'run+cut' guard
    'guard+cut' 'run guard lockd' 'run guard lockd router command' stop
    'run+stop' kill-run kill-guard kill-lockd)

#   In an order that the seed draws.
RANDOM=$seed
for ((n = ${#faults[@]} - 1; n > 0; n--)); do
    other=$((RANDOM % (n + 1)))
    fault=${faults[n]}
    faults[n]=${faults[other]}
    faults[other]=$fault
done

#   fault_at NUMBER: which it is. Without namespaces nothing can be cut.
fault_at () {
    local fault=${faults[$1 % ${#faults[@]}]}
    [ "$mode" = namespaces ] || fault=${fault/cut/lockd}
    echo "$fault"
}

#   form_for FAULT: what the command is like. Who has left its process group
#   is not killed while both `run` and its guard are stopped.
form_for () {
    local forms=(plain deaf child daemon)
    case $1 in
        'run guard'*) echo "${forms[RANDOM % 3]}" ;;
        *) echo "${forms[RANDOM % 4]}" ;;
    esac
}

#   guarded HOST: one command after the other, under the lock.
guarded () {
    local host=$1
    trap 'kill -9 $!; exit' TERM
    while :; do
        LOCKKEEPER_ENDPOINT=ipc://$where/$host/router "$lockkeeper" run \
            job -- sh -c 'exec "$0" write "$1" "$2" "$(cat "$3")"' \
            "$beats" "$file" "$host" "$work/form" &
        echo $! >"$work/run.$host"
        wait $!
    done
}

#   unguarded HOST: somebody else holds the lock for it.
unguarded () {
    local host=$1 grant
    trap 'kill -9 $!; exit' TERM
    while :; do
        grant=$(LOCKKEEPER_ENDPOINT=ipc://$where/$host/router "$lockkeeper" \
            lock job --wait 20 --background --pid $BASHPID) || continue
        LOCKKEEPER_TOKEN=${grant#*token=} "$beats" write "$file" "$host" \
            plain 30000 &
        wait $!
    done
}

#   start_jobs KIND: on all hosts.
start_jobs () {
    local host
    for host in "${hosts[@]}"; do
        "$1" "$host" 2>>"$work/said.$host" &
        loads[$1-$host]=$! load_host[$1-$host]=$host
    done
}

stop_jobs () {
    local name
    for name in "${!loads[@]}"; do
        kill "${loads[$name]}"
        wait "${loads[$name]}"
        unset "loads[$name]"
    done 2>/dev/null
    sleep 0.5
}

#   token_after TOKEN: sets $token, $host and $command of the last line, if
#   that has a higher one.
token_after () {
    local line
    line=$("$beats" last "$file") || return 1
    read -r _ token host command <<<"$line"
    [ "$token" -gt "$1" ]
}

#   works_after TOKEN: likewise, and it is at work; sets $run and $group, too.
works_after () {
    token_after "$1" && run=$(cat "$work/run.$host") &&
        group=$(ps -o pgid= -p "$command" | tr -d ' ') &&
        [ -n "$(pgrep -P "$run" -x lk-guard)" ]
}

#   pids WHAT...: of the host that had the lock, $victim.
pids () {
    local what
    for what in "$@"; do
        case $what in
            run) echo "$run" ;;
            guard) pgrep -P "$run" -x lk-guard ;;
            command) echo "-$group" ;;
            *) pid_of "$victim" "$what" ;;
        esac
    done
}

#   strike FAULT: at $victim.
# shellcheck disable=SC2046,SC2086
strike () {
    case $1 in
        kill-lockd) kill -9 "$(pids lockd)" ;;
        kill-run | kill-guard) kill -9 "$(pids "${1#kill-}")" ;;
        stop) kill "$(pids lockd)" ;;
        cut) isolate "$victim" ;;
        *+*)
            strike "${1%+*}"
            sleep "0.$((RANDOM % 10))"
            strike "${1#*+}"
            ;;
        *) kill -STOP -- $(pids $1) ;;
    esac
}

#   mend FAULT: all goes on. Who was stopped in good order is started again.
mend () {
    # shellcheck disable=SC2046
    kill -CONT -- "$run" $(pids guard lockd router) 2>/dev/null
    [ "$mode" = loopback ] || heal
    case $1 in
        *stop | kill-lockd)
            await is_dead "$victim" lockd
            start_daemon "$victim" lockd
            ;;
    esac
}

#   hand_over TOKEN: somebody else has it. A `run` that was stopped holds the
#   lock until it goes on; one that is stopped alone loses only its command.
hand_over () {
    case $fault in
        run | guard)
            sleep "$((host_lease_ms * 3 / 2000)).$((RANDOM % 10))"
            mend "$fault"
            ;;
    esac
    await token_after "$1"
}

round () {
    local token host command before victim run group fault=$1
    check "$fault: somebody holds the lock" await works_after "$last"
    sleep "0.$((RANDOM % 5))"
    before=$token
    victim=$host
    echo "$host $token $(cat "$work/form") $fault" >>"$work/rounds"
    strike "$fault"
    form_for "$(fault_at $((number + 1)))" >"$work/form"
    check "$fault: somebody else gets it" hand_over "$before"
    last=$before
    mend "$fault"
    check 'all are ready' hosts_get all_ready
}

form_for "$(fault_at 0)" >"$work/form"
last=0
start_jobs guarded
for ((number = 0; number < rounds; number++)); do
    round "$(fault_at "$number")"
done
stop_jobs
check 'no command works beside its successor' "$beats" judge "$file"
echo "measured: $rounds faults: $(cat "$work/out" | tail -n 1)"
check 'there was a successor each time' \
    test "$(sed -n 's/.* \([0-9]*\) handovers.*/\1/p' "$work/out")" -ge \
    "$rounds"

#   The same, but nobody ends the command.
file=$work/control
start_jobs unguarded
check 'control: somebody holds the lock' await token_after 0
victim=$host
pause "$victim" lockd >/dev/null
check 'control: somebody else gets it' await token_after "$token"
sleep 1
resume "$victim" lockd
stop_jobs
check 'control: an overlap is seen' code 1 "$beats" judge "$file"
echo "measured: control: $(tail -n 1 "$work/out")"
finish_test
