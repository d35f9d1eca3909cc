#!/bin/bash
#   library_resumes.sh - locks go on when their host's lock service is restarted
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

host_lease_ms=20000
# shellcheck source=tests/cluster/restarts_tap.sh
. "$(dirname "$0")/restarts_tap.sh"

lockd=$(daemons lockd)
both=$(daemons router lockd)

#   hold: a has one lock of each kind, b waits for two of them.
hold () {
    play 'one lock of each kind is held' <<'END'
a get ex door -> ok
a get sh page type=shared -> ok
a get se line type=semaphore limit=1 -> ok
a get set left right -> ok
a get st site static -> ok
b ask ex door -> ok
b ask se line type=semaphore limit=1 -> ok
listed waiting door -> ok
listed waiting line -> ok
END
}

#   goes_on MS: for so long, and nobody else had it.
goes_on () {
    check 'safe again' four safe ok
    play "all is held, for $1 ms" <<END
a hears $1 -> none
a held ex -> yes
a held sh -> yes
a held se -> yes
a held set -> yes
a held st -> yes
b hears 0 -> none
END
}

give_all () {
    play 'all is given back, the next ones have it' <<'END'
a give ex -> ok
a give sh -> ok
a give se -> ok
a give set -> ok
a give st -> ok
b hears -> granted * ok
b hears -> granted * ok
b give ex -> ok
b give se -> ok
END
}

start_all
on h1 run job -- sh -c 'echo $$ >"$1"; exec sleep 1000' sh "$work/job" \
    2>"$work/said" &
runner=$!
await test -s "$work/job"
token=$(on h2 show job --json | tr ',{' '\n\n' | grep '"token"')

hold
end_by -9 $lockd
check 'the lock service was killed: danger at once' four jeopardy ok
restart $lockd
goes_on $((host_lease_ms + 1000)) # the old lease is over, too
end_by -9 $lockd
check 'once more' four jeopardy ok
restart $lockd
goes_on 1000
give_all

hold
end_by -TERM $lockd
check 'it was told to stop: danger, and nothing is given up' \
    four jeopardy ok
restart $lockd
goes_on 1000
give_all

hold
end_by -9 $both
restart
check 'the router, too: danger' four jeopardy ok
goes_on 1000
give_all

hold
end_by -TERM $both
restart
check 'both were told to stop: danger' four jeopardy ok
goes_on 1000
give_all

check 'run: its command works on' kill -0 "$(cat "$work/job")"
check 'run: with the same token' grep -qF "$token" <<<"$(on h2 show job --json)"
check 'run: in silence' test ! -s "$work/said"
kill "$(cat "$work/job")"
check 'run: until it ends' code 143 wait $runner

play 'nobody comes' <<'END'
a get ex door -> ok
b ask ex door -> ok
END
end_by -TERM $both
play 'in time: it is lost with the lease' <<'END'
a event 60000 -> jeopardy ex ok
a held ex -> yes
a hears -> lost ex disconnected
b hears -> granted ex ok
b give ex -> ok
END
restart

end_all
done_checking
