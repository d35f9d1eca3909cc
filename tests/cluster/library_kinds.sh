#!/bin/bash
#   library_kinds.sh - locks of every kind, as applications with the library
#   have them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/actor_tap.sh
. "$(dirname "$0")/actor_tap.sh"
in_sandbox "$0" --hosts 3
start_all

#   ------------------------------------------------------------ types

play 'shared holders, and a writer that waits' <<'END'
a get r book type=shared -> ok
b get r book type=shared wait=0 -> ok
c get w book wait=0 -> full
c ask w book -> ok
listed waiting book -> ok
a get r2 book type=shared wait=0 -> full
a give r -> ok
b give r -> ok
c event 5000 -> granted w ok
c type w -> exclusive
c give w -> ok
END

play 'a soft writer is passed' <<'END'
a get r book type=shared -> ok
c ask w book soft -> ok
listed waiting book -> ok
b get r book type=shared wait=0 -> ok
a give r -> ok
b give r -> ok
c event 5000 -> granted w ok
c give w -> ok
END

play 'and one with a quiet time waits for it' <<'END'
a get w book soft quiet=300 wait=100 -> timedout
a get w book soft quiet=300 wait=2000 -> ok
a give w -> ok
END

play 'a semaphore with a bound' <<'END'
a get u1 pool type=semaphore bound=2 -> ok
b get u pool type=semaphore bound=9 -> ok
b ordinal u -> 2
c get u pool type=semaphore limit=5 wait=0 -> full
a get u2 pool type=semaphore limit=1 wait=0 -> full
c ask u pool type=semaphore limit=5 -> ok
a give u1 -> ok
c event 5000 -> granted u ok
b give u -> ok
c give u -> ok
END

play 'the canal, step by step' <<'END'
a take db 3 1 -> ok 1
b take db 3 1 -> ok 2
a take db 3 1 -> ok 3
c take db 3 1 -> full 0
c take db 3 2 -> ok 4
a take db 3 1 -> full 0
a back db 3 1 -> ok
b take db 3 1 -> full 0
c back db 3 2 -> ok
c back db 3 2 -> unknown
b take db 3 1 -> ok 3
c take db 3 1 -> full 0
END

#   ------------------------------------------------------------ processes

kill_actor b
check 'a unit of who was killed is free' within 3 answers 'ok 2' c take db 3 1
play 'and another one, each of them once' <<'END'
c take db 3 1 -> ok 3
c take db 3 1 -> full 0
c back db 3 1 -> ok
c back db 3 1 -> ok
a back db 3 1 -> ok
END
start b h2

play 're-entrance' <<'END'
a get o room reentrant -> ok
a get i room reentrant wait=0 -> ok
a get x room wait=0 -> full
a give i -> ok
a held o -> yes
b get x room wait=0 -> full
a give o -> ok
b get x room wait=0 -> ok
b give x -> ok
END

#   ------------------------------------------------------------ time

play 'a duration, and a late release' <<'END'
a get t tool duration=1500 -> ok
a event 5000 -> lost t timedout
a held t -> no
a give t -> late
b get t tool wait=0 -> ok
b give t -> ok
END

play 'a lenient one ends when somebody waits' <<'END'
a get t tool duration=300 lenient -> ok
a event 1000 -> none
a held t -> yes
b ask t tool -> ok
a event 5000 -> lost t timedout
a give t -> late
b event 5000 -> granted t ok
b give t -> ok
END

#   ------------------------------------------------------------ sets

play 'several names, all or nothing' <<'END'
a get x fork2 -> ok
b get s fork3 fork2 fork1 wait=500 -> timedout
c get s fork1 fork3 wait=0 -> ok
c give s -> ok
b ask s fork3 fork2 fork1 -> ok
b event 300 -> none
a give x -> ok
b event 5000 -> granted s ok
b held s -> yes
a get x fork1 wait=0 -> full
b give s -> ok
a get x fork1 fork2 fork3 wait=0 -> ok
a give x -> ok
a get x fork1 fork1 -> invalid
a get x fork1 fork2 static -> invalid
END

#   ------------------------------------------------------------ operators

play 'taken away by force' <<'END'
a get f file -> ok
b get f file type=shared wait=0 -> full
c force file 0 repair -> ok
a event 5000 -> lost f forced
a reason f -> repair
a give f -> ok
c force file 0 repair -> unknown
END

play 'a token is checked' <<'END'
a get f file -> ok
END
token=$(tell a token f)
play 'from any host' <<END
c check file $token -> ok $token
c check file $((token - 1)) -> denied $token
a give f -> ok
c check file $token -> denied 0
END

play 'names are bytes, and contexts tell them apart' <<'END'
a get n odd\x00\xff\x0aname -> ok
b get n odd wait=0 -> ok
b get m odd\x00\xff\x0aname wait=0 -> full
b get m odd\x00\xff\x0aname wait=0 context=other -> ok
b give m -> ok
b give n -> ok
a give n -> ok
END

end_all
done_checking
