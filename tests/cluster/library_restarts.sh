#!/bin/bash
#   library_restarts.sh - what applications with locks of each kind are told
#   when the router or the lock service of their host is restarted
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/restarts_tap.sh
. "$(dirname "$0")/restarts_tap.sh"

#   hold: a has one lock of each kind, b waits for three of them.
hold () {
    play 'one lock of each kind is held' <<'END'
a get ex door -> ok
a get sh page type=shared -> ok
a get se line type=semaphore limit=1 -> ok
a get set left right -> ok
a get st site static -> ok
b ask ex door -> ok
b ask se line type=semaphore limit=1 -> ok
b ask set right other -> ok
listed waiting door -> ok
listed waiting line -> ok
listed waiting right -> ok
END
}

#   give_all ERROR: of each lock but the static one.
give_all () {
    play 'all is given back, the next ones have it' <<END
a give ex -> $1
a give sh -> $1
a give se -> $1
a give set -> $1
a give st -> ok
b hears -> granted * ok
b hears -> granted * ok
b hears -> granted * ok
b give ex -> ok
b give se -> ok
b give set -> ok
END
}

start_all
hold
end_by -9 router
restart router
play 'the router began anew: nothing is lost, nobody is told' <<'END'
a hears 7000 -> none
a held ex -> yes
a held sh -> yes
a held se -> yes
a held set -> yes
a held st -> yes
b hears 0 -> none
END
give_all ok

hold
end_by -9 lockd
check 'the lock service ended: danger at once' four jeopardy ok
restart lockd
check 'another one is there: they go on with it' four safe ok
all_is_held () {
    play "$1" <<'END'
a held ex -> yes
a held sh -> yes
a held se -> yes
a held set -> yes
a held st -> yes
b hears 0 -> none
a ask new house -> ok
a hears -> granted new ok
a give new -> ok
a hears 7000 -> none
a held set -> yes
b hears 0 -> none
END
}
all_is_held 'all of it, sets too, for longer than a lease'
give_all ok

hold
end_by -9 lockd router
restart
check 'both began anew: danger' four jeopardy ok
check 'they go on' four safe ok
all_is_held 'all of it'
give_all ok

hold
end_by -INT lockd
check 'it is told to stop for good: given up at once' four lost shutdown
end_by -TERM router
restart
play 'the static one stays, and new ones can be had' <<'END'
a held st -> yes
a held ex -> no
a ask new house -> ok
a hears -> granted new ok
a give new -> ok
END
give_all shutdown

hold
end_by -9 router
check 'no router for longer than the lease: danger' four jeopardy ok
check 'the end' four lost disconnected
play 'and others have it' <<'END'
b hears -> granted * ok
b hears -> granted * ok
b hears -> granted * ok
a held ex -> no
b give ex -> ok
b give se -> ok
b give set -> ok
END
restart router
play 'it is back: so is the session' <<'END'
a held st -> yes
a give ex -> disconnected
a give st -> ok
a get ex door wait=60000 -> ok
a give ex -> ok
END

end_all
done_checking
