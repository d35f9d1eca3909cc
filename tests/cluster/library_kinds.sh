#!/bin/bash
#   library_kinds.sh - locks of every kind, as applications with the library
#   have them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A few processes on three hosts (actor.c) do what they are told here.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3

#   ------------------------------------------------------------ actors

declare -A to from pid

#   start NAME HOST
start () {
    local name=$1 in out
    mkfifo "$work/$name.in" "$work/$name.out"
    (
        for fd in "${to[@]}" "${from[@]}"; do
            exec {fd}>&- # else others would not see their ends
        done
        LOCKKEEPER_ENDPOINT=ipc://$LOCKKEEPER_SANDBOX/$2/router \
            exec "$BUILD/tests/cluster/actor"
    ) <"$work/$name.in" >"$work/$name.out" &
    pid[$name]=$!
    exec {in}>"$work/$name.in" {out}<"$work/$name.out"
    to[$name]=$in
    from[$name]=$out
    rm "$work/$name.in" "$work/$name.out"
}

#   tell NAME WORDS...: prints what it answers.
tell () {
    local name=$1 answer in out
    shift
    in=${to[$name]} out=${from[$name]}
    echo "$*" >&"$in"
    read -r -t 30 answer <&"$out" || answer='no answer'
    echo "$answer"
}

let_go () {
    local in=${to[$1]} out=${from[$1]}
    exec {in}>&- {out}<&-
    unset "to[$1]" "from[$1]"
}

#   end NAME: in good order. kill_actor NAME: at once.
end () {
    let_go "$1"
    wait "${pid[$1]}"
}

kill_actor () {
    kill -9 "${pid[$1]}"
    wait "${pid[$1]}" 2>/dev/null
    let_go "$1"
}

#   answers PATTERN NAME WORDS...
answers () {
    local wanted=$1 answer
    shift
    answer=$(tell "$@")
    # shellcheck disable=SC2254
    case $answer in
        $wanted) ;;
        *)
            echo "'$answer', not '$wanted'"
            return 1
            ;;
    esac
}

#   play TITLE, and on standard input lines such as
#       NAME WORDS... -> PATTERN
#   All of them are one case.
play () {
    local title=$1 line name words answer bad_lines=''
    while read -r line; do
        name=${line%% *}
        words=${line#* }
        # shellcheck disable=SC2086
        answer=$(answers "${words#*-> }" "$name" ${words%%->*}) ||
            bad_lines="$bad_lines$line: $answer
"
    done
    cases=$((cases + 1))
    if [ -z "$bad_lines" ]; then
        echo "ok $cases - $title"
    else
        printf '%s' "$bad_lines" | sed 's/^/# /'
        echo "not ok $cases - $title"
        bad=$((bad + 1))
    fi
}

for name in a b c; do
    case $name in a) host=h1 ;; b) host=h2 ;; c) host=h3 ;; esac
    start $name $host
done

#   ------------------------------------------------------------ types

play 'shared holders, and a writer that waits' <<'END'
a get r book type=shared -> ok
b get r book type=shared wait=0 -> ok
c get w book wait=0 -> full
c ask w book -> ok
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

play 'from shared to exclusive and back' <<'END'
a get r page type=shared -> ok
b get r page type=shared -> ok
a change r exclusive 0 -> full
a held r -> yes
a begin r exclusive -1 -> ok
b change r exclusive -1 -> deadlock
b held r -> yes
c get r page type=shared wait=0 -> full
b give r -> ok
a event 5000 -> changed r ok
a type r -> exclusive
c get r page type=shared wait=0 -> full
c ask r page type=shared -> ok
a change r shared 0 -> ok
c event 5000 -> granted r ok
a held r -> yes
a give r -> ok
c give r -> ok
END

play 'an upgrade that does not come is taken back' <<'END'
a get r page type=shared -> ok
b get r page type=shared -> ok
a change r exclusive 200 -> timedout
a type r -> shared
c get r page type=shared wait=2000 -> ok
b give r -> ok
c give r -> ok
a change r exclusive 1000 -> ok
a give r -> ok
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
b get l lamp linger=3000 -> ok
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
c get l lamp wait=3000 -> ok
c give l -> ok
END

#   ------------------------------------------------------------ time

play 'a duration, and a late release' <<'END'
a get t tool duration=300 -> ok
a event 3000 -> lost t timedout
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

#   ------------------------------------------------------------ danger

read -r lockd <"$LOCKKEEPER_SANDBOX/h1/lockd.pid"
play 'a lock in jeopardy' <<'END'
a get j jewel -> ok
END
kill -STOP "$lockd"
play 'is told as such' <<'END'
a event 7000 -> jeopardy j ok
a held j -> yes
END
kill -CONT "$lockd"
play 'until that is over' <<'END'
a event 3000 -> safe j ok
a held j -> yes
a give j -> ok
END

for name in a b c; do
    end $name
done
done_checking
