#!/bin/bash
#   others_word.sh - what another host's router says of this host is no word
#   of its own
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   It needs no more than the port: it says that a holder has ended, that
#   hosts are there that can be none, that this one is to stop.

# shellcheck source=tests/cluster/speak_tap.sh
. "$(dirname "$0")/speak_tap.sh"
in_sandbox "$0" --plain --hosts 1 --set router/log-level=info \
    --set lock/log-level=info
numbers=$(cat "$LOCKKEEPER_SANDBOX"/*/*.pid)
log=$LOCKKEEPER_SANDBOX/h1/$(daemons lockd).log

lie () {
    local command=$1
    shift
    say liar router@h9 lock@h1 "$command" 0 0 "$*"
}

told_of () {
    grep -c 'not told to stop by its router: by=router@h9' "$log"
}

#   STOP is the last of them, and the only one that the log tells of.
tell_lies () {
    local count host
    count=$(told_of)
    say liar router@h9 router@. CONNECT 1 0 '{"host":"h9","version":"1",' \
        '"address":"127.0.0.1:1","incarnation":"00000000000000f9"}'
    lie STATUS '{"service":"holder@h1","status":"down","pid":7,' \
        '"reason":"process ended"}'
    lie STATUS '{"service":"holder@h1","status":"up","pid":1}'
    for host in 'a b' '*' '' 'h2@h3' "$(printf 'a%.0s' {1..300})"; do
        lie NEWREMOTECONNECTION "{\"host\":\"$host\",\"address\":\"x:1\"}"
        lie HANGUP "{\"host\":\"$host\",\"reason\":\"no\"}"
        lie STATUS "{\"service\":\"lock@$host\",\"status\":\"up\",\"pid\":7}"
    done
    lie DISCONNECTED '{"host":"h1"}'
    lie INVALID '{"reason":"that is none"}'
    lie REFUSE '{"reason":"that is none"}'
    lie READY '{"host":"h9"}'
    lie STOP '{}'
    within 20 more_than "$count"
}

more_than () {
    [ "$(told_of)" -gt "$1" ]
}

#   A router that was silent meanwhile is none that is listened to.
tell_all_lies () {
    tell_lies || tell_lies || tell_lies
}

same_daemons () {
    all_live && [ "$numbers" = "$(cat "$LOCKKEEPER_SANDBOX"/*/*.pid)" ]
}

check 'a lock is held' hold holder gate
speaker liar "$(tcp_of h1)"
check 'a router of another host tells lies' tell_all_lies
check 'no daemon ended' same_daemons
check 'the lock is still held' is_busy gate
silence liar
silence holder 9
check 'it is free when its holder has ended' is_free gate
done_checking
