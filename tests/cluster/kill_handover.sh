#!/bin/bash
#   kill_handover.sh - however a lock ends: no command works beside the next one
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   kill_handover.sh [KILL_ROUNDS=N]: so often each way in which the lock of a
#   command that ignores TERM ends, while somebody on another host waits for it:
#   the lock service is killed, or told to stop, and started at once, be `run`
#   stopped or not; it is stopped until its session is over, and then told to
#   stop for good; an operator takes the lock away, or somebody with its key;
#   `run` is stopped for ever. Both commands write all the time to one file: a
#   line behind one of a later token is an overlap.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=400 \
    --set lock/leader-lease=800 --set lock/host-lease=6000
rounds=${KILL_ROUNDS:-2}
beats=$BUILD/tests/cluster/beats
file=$work/beats

lockd () {
    cat "$LOCKKEEPER_SANDBOX/h1/lockd.pid"
}

restart () {
    await gone "$1"
    on h2 sandbox restart h1 lockd >"$work/restart" 2>&1
}

#   writes HOST: the last line is of that host's command.
writes () {
    "$beats" last "$file" 2>/dev/null | grep -q " $1 "
}

#   hold NAME...: on h1, deaf to TERM; $run, $key and $command are its.
hold () {
    rm -f "$work/key"
    # shellcheck disable=SC2016
    start_on h1 run "$@" -- sh -c 'echo "$LOCKKEEPER_KEY" >"$0"
        exec "$1" write "$2" h1 deaf' \
        "$work/key" "$beats" "$file" 2>"$work/said.h1"
    run=$!
    await test -s "$work/key" && await writes h1 || return
    key=$(cat "$work/key")
    command=$("$beats" last "$file" | cut -d ' ' -f 4)
}

#   follow: on h2, when it is free.
follow () {
    start_on h2 run job -- "$beats" write "$file" h2 plain 200 2>"$work/said.h2"
    next=$!
    await is_listed 'waiting *h2' job
}

#   contend NAME...: h1 has it, h2 waits.
contend () {
    hold "$@" && follow
}

#   session: that in which h1 holds it.
session () {
    on h2 list --object job --json |
        sed -n 's/.*"host":"h1".*"state":"held".*"session":\([0-9]*\),.*/\1/p'
}

#   has_session: and it is `at`; while an election is due nobody tells.
has_session () {
    at=$(session)
    [ -n "$at" ]
}

is_later () {
    [ "$(session)" -gt "$1" ] 2>/dev/null
}

lost () {
    grep -q 'lost' "$work/said.h1"
}

#   ------------------------------------------------------------ its ends

#   Sets go on; so it is told to end when it is seen to.
end_restart () {
    local pid before
    pid=$(lockd)
    await has_session || return 1
    before=$at
    kill "$1" "$pid"
    restart "$pid"
    await is_later "$before" || return 1
    kill -INT "$run"
    kill -KILL "$command"
}

#   It does not go on, since it is stopped; its guard kills the command.
end_stopped () {
    local pid
    pid=$(lockd)
    kill -STOP "$run"
    kill -KILL "$pid"
    restart "$pid"
    await ended "$command"
    kill -CONT "$run"
}

end_for_good () {
    local pid
    pid=$(lockd)
    kill -STOP "$pid"
    await lost
    kill -CONT "$pid"
    kill -INT "$pid"
    restart "$pid"
}

#   The holder is asked, and who asks is told how long it takes.
take_away () {
    local code=0
    on h3 unlock job "$@" 2>"$work/told" || code=$?
    cat "$work/told"
    [ "$code" = 0 ] && grep -q 'h1: stopping, [0-9.]* s left' "$work/told"
}

end_by_key () {
    take_away "$key"
}

#   Its lock service lives and renews; only the guard can give it back.
end_guarded () {
    kill -STOP "$run"
    await ended "$command"
    await writes h2
    kill -CONT "$run"
}

#   ------------------------------------------------------------ rounds

finish_test () {
    kill -KILL "$run" "$next" 2>/dev/null
    "$beats" judge "$file" | sed 's/^/# /'
}

#   must DEED...: else nobody waits for what comes of it.
must () {
    "$@" || {
        hopeless="$1 failed"
        return 1
    }
}

#   round TITLE NAMES END...
round () {
    local title=$1 names=$2
    shift 2
    # shellcheck disable=SC2086
    check "$title: held, and waited for" must contend $names
    check "$title: it ends" must "$@"
    check "$title: the next one gets it" code 0 wait "$next"
    check "$title: nobody else works on" await ended "$command"
    wait "$run" 2>/dev/null
    check "$title: locks can be had again" await ready
}

ready () {
    on h1 status >/dev/null 2>&1
}

for ((number = 0; number < rounds; number++)); do
    round 'killed' '--all job other' end_restart -KILL
    round 'stopped in good order' '--all job other' end_restart -TERM
    round 'killed beside a run that sleeps' '--all job other' end_stopped
    round 'stopped for good after its session' job end_for_good
    round 'taken away' job take_away --force --reason test
    round 'taken away by key' job end_by_key
    round 'a run that sleeps' job end_guarded
done
check 'no command works beside the next one' "$beats" judge "$file"
echo "measured: $(tail -n 1 "$work/out")"
check 'there was a next one each time' \
    test "$(sed -n 's/.* \([0-9]*\) handovers.*/\1/p' "$work/out")" -ge \
    $((14 * rounds - 1))

#   ------------------------------------------------------------ at once

check 'now: held' hold job
check 'now: at once' code 0 on h3 unlock job --force --now --reason test
check 'now: the holder is told' await lost
check 'now: its command ends' await ended "$command"
wait "$run" 2>/dev/null
done_checking
