# shellcheck shell=bash
#   actor_tap.sh - processes with the library that do what a test says (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced, in place of cli_tap.sh, by a test that begins with
#   `in_sandbox "$0"`; actor.c has what they understand.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

declare -A to from pid

#   start NAME HOST
start () {
    start_with "$1" "LOCKKEEPER_ENDPOINT=ipc://$LOCKKEEPER_SANDBOX/$2/router"
}

#   start_with NAME VARIABLE=VALUE...
start_with () {
    local name=$1 in out
    shift
    mkfifo "$work/$name.in" "$work/$name.out"
    (
        for fd in "${to[@]}" "${from[@]}"; do
            exec {fd}>&- # else others would not see their ends
        done
        exec env "$@" "$BUILD/tests/cluster/actor"
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
    read -r -t 90 answer <&"$out" || answer='no answer'
    echo "$answer"
}

#   hear NAME [MS]: the next event that is no warning of danger; "none" if it
#   does not come, without MS that hangs.
hear () {
    local event until_ms=$(($(now_ms) + ${2:-60000})) left
    while :; do
        left=$((until_ms - $(now_ms)))
        event=$(tell "$1" event $((left > 0 ? left : 0)))
        case $event in
            jeopardy* | safe*) ;;
            *) break ;;
        esac
    done
    echo "$event"
}

#   listed WORD NAME: ok as soon as it is.
listed () {
    await is_listed "$1" "$2" && echo ok
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

#   Those that the test did not end.
kill_all () {
    local name
    for name in "${!to[@]}"; do
        kill -9 "${pid[$name]}"
    done
}
trap kill_all EXIT

#   answers PATTERN NAME WORDS...
answers () {
    local wanted=$1 answer
    shift
    case "$1 ${2:-}" in
        listed*) answer=$("$@") ;;
        *' hears') answer=$(hear "$1" "${@:3}") ;;
        *) answer=$(tell "$@") ;;
    esac
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
#       NAME hears [MS] -> PATTERN
#       listed WORD NAME -> ok
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
        case $answer in
            "'no answer'"*)
                hopeless="$name gives no answer"
                break
                ;;
        esac
    done
    cases=$((cases + 1))
    if [ -z "$bad_lines" ]; then
        echo "ok $cases - $title"
    else
        printf '%s' "$bad_lines" | sed 's/^/# /'
        echo "not ok $cases - $title"
        bad=$((bad + 1))
    fi
    [ -z "$hopeless" ] || {
        on h1 list 2>&1 | sed 's/^/# /'
        give_up
    }
}

#   a, b and c, one for each host.
start_all () {
    start a h1
    start b h2
    start c h3
}

end_all () {
    for name in a b c; do
        end $name
    done
}
