#!/bin/bash
#   library_lives.sh - what becomes of locks that applications with the library
#   have: other types, other owners, danger
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/actor_tap.sh
. "$(dirname "$0")/actor_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/host-lease=24000
start_all

#   ------------------------------------------------------------ types

play 'from shared to exclusive and back' <<'END'
a get r page type=shared -> ok
b get r page type=shared -> ok
a change r exclusive 0 -> full
a held r -> yes
a begin r exclusive -1 -> ok
listed upgrade page -> ok
b change r exclusive -1 -> deadlock
b held r -> yes
c get r page type=shared wait=0 -> full
b give r -> ok
a hears -> changed r ok
a type r -> exclusive
c get r page type=shared wait=0 -> full
c ask r page type=shared -> ok
a change r shared 0 -> ok
c hears -> granted r ok
a held r -> yes
a give r -> ok
c give r -> ok
END

play 'an upgrade that does not come is taken back' <<'END'
a get r page type=shared -> ok
b get r page type=shared -> ok
a change r exclusive 200 -> timedout
a type r -> shared
c get r page type=shared wait=60000 -> ok
b give r -> ok
c give r -> ok
a change r exclusive 60000 -> ok
a give r -> ok
END

#   ------------------------------------------------------------ owners

play 'a static lock is left' <<'END'
b get s site static -> ok
b held s -> yes
END
key=$(tell b key s)
play 'by its process' <<END
b leave s -> ok
a get s site wait=0 -> full
END
end b
start b h2
play 'and ended by its key' <<END
b get s site wait=0 -> full
c unlock site 00000000000000ff -> denied
c unlock site $key -> ok
b get s site wait=0 -> ok
b give s -> ok
END

play 'a lock that lingers' <<'END'
b get l lamp linger=60000 -> ok
END
key=$(tell b key l)
token=$(tell b token l)
kill_actor b
start b h2
play 'is taken over by who has its key' <<END
a get l lamp wait=0 -> full
b get l lamp key=$key wait=0 -> ok
b token l -> $token
b give l -> ok
a get l lamp linger=300 -> ok
a leave l -> ok
c get l lamp wait=0 -> full
END
end a
start a h1
play 'and ends after its time' <<'END'
c get l lamp wait=60000 -> ok
c give l -> ok
END

#   ------------------------------------------------------------ danger

read -r lockd <"$LOCKKEEPER_SANDBOX/h1/lockd.pid"
play 'a lock in jeopardy' <<'END'
a get j jewel -> ok
END
kill -STOP "$lockd"
play 'is told as such' <<'END'
a event 60000 -> jeopardy j ok
a held j -> yes
END
kill -CONT "$lockd"
play 'until that is over' <<'END'
a event 60000 -> safe j ok
a held j -> yes
a give j -> ok
END

#   ------------------------------------------------------------ stop, death

kill_host () {
    local router lockd
    read -r router <"$LOCKKEEPER_SANDBOX/$1/router.pid"
    read -r lockd <"$LOCKKEEPER_SANDBOX/$1/lockd.pid"
    kill -9 "$router" "$lockd"
}

play 'a lock service that stops for good waits for its holders' <<'END'
b get d door -> ok
c ask w door -> ok
END
read -r lockd <"$LOCKKEEPER_SANDBOX/h2/lockd.pid"
kill -INT "$lockd"
play 'which end in good order' <<'END'
b hears -> lost d shutdown
b held d -> no
c hears 700 -> none
b give d -> shutdown
c hears -> granted w ok
c give w -> ok
END
end b
on h1 sandbox restart h2 >"$work/restart" 2>&1
start b h2
check 'it comes back' await answers ok b get d door wait=1000
play 'with nothing of before' <<'END'
b give d -> ok
c get s site static -> ok
END
key=$(tell c key s)
kill_actor c
kill_host h3
play 'a static lock outlives its host' <<END
b get s site wait=2000 -> timedout
a unlock site $key -> ok
b get s site wait=60000 -> ok
END
kill_host h1
play 'who is left alone loses what it holds' <<'END'
b event 60000 -> jeopardy s ok
b hears -> lost s isolated
b held s -> no
b give s -> isolated
END

end a
end b
done_checking
