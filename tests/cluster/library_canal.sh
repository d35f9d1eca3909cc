#!/bin/bash
#   library_canal.sh - canals, as applications with the library have them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/actor_tap.sh
. "$(dirname "$0")/actor_tap.sh"
in_sandbox "$0" --hosts 3
start_all

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

kill_actor b
check 'a unit of who was killed is free' await answers 'ok 2' c take db 3 1
play 'and another one, each of them once' <<'END'
c take db 3 1 -> ok 3
c take db 3 1 -> full 0
c back db 3 1 -> ok
c back db 3 1 -> ok
a back db 3 1 -> ok
END

end a
end c
done_checking
