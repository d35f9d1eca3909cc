#!/bin/bash
#   far_kinds.sh - locks of every kind, from a machine without a router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Three hosts that serve. a, b and d are remote, and use h1 until that is
#   killed; l is a process of h3.

# shellcheck source=tests/cluster/actor_tap.sh
. "$(dirname "$0")/actor_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
# shellcheck source=tests/cluster/far_hosts_tap.sh
. "$(dirname "$0")/far_hosts_tap.sh"
trap 'kill_all; finish_test' EXIT
export LOCKKEEPER_SANDBOX=$work # where `on` finds hosts

serve_all
check 'a client file' "$lockkeeper" client new "$file"
key=$(sed -n 's/.*public-key = "\(.*\)"/\1/p' "$file")
for number in 1 2 3; do
    server "h$number" "$net.$number"
done
echo '    order = listed' >>"$file"
check 'its key is added' at h1 clients add m1 "$key"
check 'locks can be had from there' client wait-ready --timeout 30

#   remote NAME...: actors by the client file.
remote () {
    local name
    for name in "$@"; do
        start_with "$name" LOCKKEEPER_ENDPOINT= "LOCKKEEPER_CLIENT=$file"
    done
}
remote a b d
start_with l "LOCKKEEPER_ENDPOINT=ipc://$work/h3/router"

#   ------------------------------------------------------------ as on a host

play 'a set' <<'end'
a get s fork1 fork2 -> ok
l get x fork2 wait=0 -> full
a give s -> ok
l get s fork1 fork2 wait=0 -> ok
l give s -> ok
end
play 'shared, exclusive and back' <<'end'
a get r page type=shared -> ok
l get r page type=shared -> ok
a change r exclusive 0 -> full
a type r -> shared
a begin r exclusive -1 -> ok
listed upgrade page -> ok
l change r exclusive -1 -> deadlock
l give r -> ok
a hears -> changed r ok
a type r -> exclusive
a change r shared 0 -> ok
l get r page type=shared wait=1000 -> ok
a give r -> ok
l give r -> ok
end
play 'a semaphore, and a soft one' <<'end'
a get u pool type=semaphore bound=2 -> ok
a ordinal u -> 1
b get u pool type=semaphore bound=2 -> ok
l get u pool type=semaphore bound=2 wait=0 -> full
a give u -> ok
b give u -> ok
a get x plan soft quiet=100 wait=5000 -> ok
a give x -> ok
end
play 'a static lock, given back' <<'end'
a get s site static -> ok
a held s -> yes
l get s site wait=0 -> full
a give s -> ok
l get s site wait=0 -> ok
l give s -> ok
end
play 'a duration, and of a set' <<'end'
a get x tool duration=500 -> ok
a hears -> lost x timedout
a give x -> late
a get s tool1 tool2 duration=500 -> ok
a hears -> lost s timedout
a give s -> late
l get s tool1 tool2 wait=5000 -> ok
l give s -> ok
end
#   here VERB...: lockkeeper on h3, also below one by the client file.
here () {
    env LOCKKEEPER_CLIENT= "LOCKKEEPER_ENDPOINT=ipc://$work/h3/router" \
        "$lockkeeper" "$@"
}
at_h3="env LOCKKEEPER_CLIENT= LOCKKEEPER_ENDPOINT=ipc://$work/h3/router \
$lockkeeper"
# shellcheck disable=SC2086 # several words
run_with () {
    code 75 client run "$@" -- \
        $at_h3 run fork2 --wait 0 --on-busy 75 -- true
}
check 'run with a set' run_with --all fork1 fork2
check 'run with a shared lock' run_with --shared fork2
check 'run with a semaphore' run_with --semaphore 3 fork2
by_hand () {
    client lock --static hand >"$work/hand" 2>/dev/null && cat "$work/hand" &&
        code 75 here run hand --wait 0 --on-busy 75 -- true &&
        client unlock hand "$(sed -n 's/.*key=\([0-9a-f]*\).*/\1/p' "$work/hand")" &&
        here run hand --wait 0 -- true
}
check 'a static lock by hand' by_hand

#   ------------------------------------------------------------ a server dies

play 'of all kinds, held and waiting' <<'end'
a get s fork1 fork2 -> ok
a get r page type=shared -> ok
l get r page type=shared -> ok
a begin r exclusive -1 -> ok
listed upgrade page -> ok
a get k site static type=shared -> ok
b get w crow linger=60000 -> ok
l get x salt -> ok
b ask s pepper salt -> ok
listed waiting salt -> ok
d get x lamp linger=60000 -> ok
end
set_token=$(tell a token s)
page_token=$(tell a token r)
lamp=$(tell d key x)
crow=$(tell b key w)
kill -9 "${router[1]}" "${lockd[1]}"
wait "${router[1]}" "${lockd[1]}" 2>/dev/null
sleep 12 # longer than any lease
play 'a set that was held is held' <<end
a held s -> yes
a token s -> $set_token
l get y fork2 wait=0 -> full
a give s -> ok
l get y fork1 fork2 wait=0 -> ok
l give y -> ok
end
play 'a set that waited is granted' <<'end'
l give x -> ok
b hears -> granted s ok
l get x pepper wait=0 -> full
b give s -> ok
l get x pepper salt wait=0 -> ok
l give x -> ok
end
play 'an upgrade that waited is made' <<end
a type r -> shared
a token r -> $page_token
l give r -> ok
a hears -> changed r ok
a type r -> exclusive
l get r page type=shared wait=0 -> full
end
page_token=$(tell a token r)
play 'with another token' <<end
l check page $page_token -> ok $page_token
a change r shared 0 -> ok
l get r page type=shared wait=1000 -> ok
a give r -> ok
l give r -> ok
end
play 'a static lock is held, and goes back to another server' <<'end'
a held k -> yes
l get x site wait=0 -> full
a change k exclusive 0 -> invalid
a held k -> yes
a give k -> ok
l get x site wait=0 -> ok
l give x -> ok
end

#   ------------------------------------------------------------ what lingers

play 'what is left lingers' <<'end'
d held x -> yes
d leave x -> ok
end
end d
remote d
#   UNLOCK by its key waits for nobody then.
play 'nobody inherits it, and it goes by its key' <<end
l get x lamp wait=0 -> full
l get x lamp wait=0 key=$lamp -> full
d get x lamp key=$lamp -> invalid
d unlock lamp $lamp -> ok
d get x lamp wait=0 -> ok
l get y lamp wait=0 -> full
d give x -> ok
end
kill_actor b
sleep 12 # its server knows then
play 'so does what was killed' <<end
l get x crow wait=0 -> full
d unlock crow 0000000000000001 -> denied
d unlock crow $crow -> ok
d get x crow wait=0 -> ok
d give x -> ok
end
for name in a d l; do
    end "$name"
done
done_checking
