#!/bin/bash
#   cli_kinds.sh - every kind of lock on the command line, on a cluster of three
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
in_sandbox "$0" --hosts 3 --set lock/dead-after=1000 \
    --set lock/leader-lease=2100 --set lock/host-lease=6600

pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$2.pid"
}

#   hold HOST NAME OPTIONS...: until `let_go`; $key and $token are the lock's.
holders=()
hold () {
    local host=$1
    shift
    rm -f "$work/held"
    start_on "$host" lock "$@" >"$work/held" 2>"$work/held.err"
    holders+=($!)
    await test -s "$work/held" || return 1
    # shellcheck source=/dev/null
    . "$work/held"
}

let_go () {
    kill "${holders[@]}"
    wait "${holders[@]}"
    holders=()
}

#   is_free HOST NAME OPTIONS...; is_busy likewise: it cannot be had at once.
is_free () {
    code 0 on "$1" run "${@:2}" --wait 0 -- true
}

is_busy () {
    code 124 on "$1" run "${@:2}" --wait 0 -- true
}

listed () {
    on h2 list --object "$1" | grep -E "$2"
}

#   ------------------------------------------------------------ shared

check 'shared: a holder' hold h1 book --shared
check 'shared: another' hold h2 book --shared
check 'shared: a third' is_free h3 book --shared
check 'shared: no exclusive one' is_busy h3 book
check 'shared: no unit' is_busy h3 book --semaphore 9
check 'shared: listed' listed book '^held .* shared  .* 2  *[0-9]+ book$'
start_on h3 run book --policy soft -- true
waiter=$!
check 'a soft writer waits' await listed book '^waiting .* exclusive,soft'
check 'readers pass it' is_free h2 book --shared
start_on h2 run book -- true
hard=$!
check 'a hard writer waits' await listed book '^waiting .* exclusive '
check 'readers do not pass that' is_busy h1 book --shared
check 'all readers end' let_go
check 'the soft writer gets it' code 0 wait $waiter
check 'the hard writer, too' code 0 wait $hard
began=$(now_ms)
check 'quiet: gets it' code 0 on h1 run book --quiet 0.8 --wait 90 -- true
took=$(($(now_ms) - began))
check "quiet: 0.8 s, not before: $took ms" test $took -ge 800
check 'quiet: does not wait, and so is refused' is_busy h1 book --quiet 0.8

#   ------------------------------------------------------------ semaphores

check 'semaphore: the first' hold h1 pool --semaphore 2
check 'semaphore: the second' hold h2 pool --semaphore 2
check 'semaphore: listed as such' \
    listed pool ' semaphore  *2  *2  *[0-9]+ pool$'
check 'semaphore: no third' is_busy h3 pool --semaphore 2
check 'semaphore: one who knows of more' is_free h3 pool --semaphore 3
check 'semaphore: nobody alone' is_busy h3 pool
check '--on-busy' code 75 on h3 run pool --semaphore 2 --wait 0 --on-busy 75 \
    -- true
check '--on-busy, in vain for a time' code 0 \
    on h3 lock pool --semaphore 2 --wait 0.2 --on-busy 0
let_go
check '--on-busy is not for what is no lock' code 127 \
    on h3 run pool --on-busy 75 -- /no/such
check 'bound: the first says how many' hold h1 pool --bound 2
check 'bound: listed' listed pool ' semaphore  */2  *1 '
check 'bound: with one more limit' hold h2 pool --semaphore 9 --bound 5
check 'bound: others have no say' is_busy h3 pool --semaphore 9 --bound 5
check 'bound: a smaller limit counts' is_busy h3 pool --semaphore 1
let_go
check 'bound: forgotten with the last holder' hold h1 pool --bound 1
check 'bound: another one' is_busy h2 pool --bound 2
let_go

check 'context: the one' hold h1 target --context red
check 'context: the other' is_free h2 target --context blue
check 'context: none' is_free h2 target
check 'context: the same' is_busy h2 target --context red
check 'context: two minuses, which end no options' \
    test "$(on h1 run --context -- target --wait 5 -- echo --wait --)" = \
    '--wait --'
check 'context: the same, in front of a name' is_free h2 --context -- target
check 'context: listed' listed target 'target in red$'
check 'context: the key needs it' code 1 on h2 unlock target "${key:-}"
check 'context: the key' code 0 on h2 unlock target "$key" --context red
wait "${holders[@]}"
holders=()

#   ------------------------------------------------------------ several names

check 'all: their tokens' on h1 run --all one two three -- sh -c '
    set -- $LOCKKEEPER_TOKENS
    [ $# = 3 ] && [ "$1" = "$LOCKKEEPER_TOKEN" ] && [ "$2" -gt 0 ] &&
    [ "$LOCKKEEPER_NAME" = one ] && [ "$LOCKKEEPER_KEY" != 0000000000000000 ]'
check 'all: held' hold h1 --all one two three
# shellcheck disable=SC2154
check 'all: tokens for a shell' test "$(wc -w <<<"${tokens:-}")" = 3
for name in one two three; do
    check "all: $name is busy" is_busy h2 $name
done
check 'all: all or nothing' is_busy h3 --all two four
check 'all: nothing' is_free h3 four
start_on h3 run --all zero three four -- touch "$work/all"
waiter=$!
check 'all: waits' await listed three '^waiting'
check 'all: the key of the first ends all' code 0 on h2 unlock one "$key"
wait "${holders[@]}"
holders=()
check 'all: the next set has its turn' code 0 wait $waiter
check 'all: its command ran' test -e "$work/all"
for name in zero one two three four; do
    check "all: $name is free" is_free h2 $name
done
check 'all: the same twice' says 125 'twice' on h1 run --all a a -- true
two_tokens () {
    [ "$(grep -c '"token":[1-9]' "$work/json")" = 2 ]
}
start_on h1 lock --all a b --json >"$work/json"
holders=($!)
check 'all: JSON, one of each' await two_tokens
let_go

#   ------------------------------------------------------------ time

check 'deadline: as /proc/uptime' on h1 run tea --duration 500 -- bash -c '
    read -r now _ </proc/uptime
    left=$((${LOCKKEEPER_DEADLINE%.*} - ${now%.*}))
    [ $left -ge 400 ] && [ $left -le 501 ] &&
    [[ $LOCKKEEPER_DEADLINE =~ ^[0-9]+\.[0-9]{3}$ ]]'
check 'deadline: none' test \
    "$(on h1 run tea -- sh -c 'echo $LOCKKEEPER_DEADLINE')" = inf
home=$(on h1 status --object tea | awk '$1 == "home" { print $2 }')
check 'duration: what is left is listed at its home' \
    on "$home" run tea --duration 500 -- sh -c \
    '"$BUILD/lockkeeper" list | grep "0:0[0-9]:[0-9]* exclusive"'
check 'lenient: nobody waits' code 0 \
    on h1 run tea --duration 0.3 --lenient -- sleep 1
start_on h1 run tea --duration 0.3 --lenient -- sleep 1000 2>/dev/null
holder=$!
await listed tea '^held .*exclusive,lenient'
sleep 1
check 'lenient: still held' kill -0 $holder
check 'lenient: somebody waits' code 0 on h2 run tea -- true
check 'lenient: it was taken away' code 122 wait $holder

start_on h1 run fear --on-jeopardy USR1 -- bash -c "
    trap 'echo x >>$work/fear' USR1
    touch $work/calm; while :; do sleep 0.05; done" 2>/dev/null
holder=$!
await test -e "$work/calm"
warned () {
    [ "$(grep -c x "$work/fear")" = "$1" ]
}
for count in 1 2; do
    kill -STOP "$(pid_of h1 lockd)"
    check "jeopardy $count: a warning" await warned $count
    sleep 0.3
    kill -CONT "$(pid_of h1 lockd)"
    sleep 1
    check "jeopardy $count: once" warned $count
done
check 'jeopardy: it goes on' kill -0 $holder
kill $holder
wait $holder

#   ------------------------------------------------------------ static, linger

grant=$(on h1 lock rock --static)
eval "$grant"
check 'static: listed' listed rock ' exclusive,static '
check 'static: returns, and it is held' is_busy h2 rock
check 'static: its token is good' says 0 "held newest=$token" \
    on h3 check rock "$token"
check 'static: refused, an eval fails' test "$(on h2 lock rock --static \
    --duration 9 --wait 0 2>"$work/said")" = false
kill -9 "$(pid_of h1 lockd)"
on h1 sandbox restart h1 lockd
await on h1 status >/dev/null
sleep 7
check 'static: held after its host came back' is_busy h2 rock
check 'static: until it is unlocked' code 0 on h3 unlock rock "$key"
check 'static: free' is_free h2 rock
check 'a token that is none any more' says 1 'not held newest=0' \
    on h3 check rock "$token"

check 'linger' hold h1 baton --linger 30
before=$token
kill -9 "${holders[@]}"
wait "${holders[@]}" 2>/dev/null
holders=()
sleep 0.5
check 'linger: nobody else gets it' is_busy h2 baton
check 'linger: another key does not do' says 1 'no such lock with that key' \
    on h1 lock baton --key 123
check 'linger: nor does another type' says 1 'no such lock with that key' \
    on h1 lock baton --key "$key" --shared
check 'linger: nor another host' says 1 'no such lock with that key' \
    on h2 lock baton --key "$key"
check 'linger: and no other lock is taken instead' \
    says 1 "cannot take over 'staff': no such lock with that key" \
    on h1 lock staff --key "$key"
check 'linger: nor kept' is_free h2 staff
check 'linger: handed on' hold h1 baton --key "$key"
check 'linger: with its token' test "$token" = "$before"
let_go
check 'linger: given back by the second' is_free h2 baton
check 'linger: TERM' hold h1 baton --linger 5
let_go
check 'linger: TERM: kept' is_busy h2 baton
check 'linger: TERM: for a while' code 0 on h2 run baton --wait 90 -- true

#   ------------------------------------------------------------ check, force

check 'force: a holder' hold h1 old
check 'check' says 0 "held newest=$token" on h2 check old "$token"
check 'check: another one' says 1 "not held newest=$token" \
    on h2 check old $((token - 1))
check 'check --json' says 1 '"held":false,' on h2 check old 5 --json
check 'force: another token' says 1 'with that token' \
    on h2 unlock old --force --reason 'no' --token 5
check 'force: that token' code 0 \
    on h2 unlock old --force --reason 'it hung' --token "$token"
check 'force: the holder ends' code 122 wait "${holders[@]}"
check 'force: and knows why' grep -F 'it hung' "$work/held.err"
holders=()
check 'force: nobody is left' says 1 'nobody holds it' \
    on h2 unlock old --force --reason 'again'
check 'force: readers' hold h1 old --shared
check 'force: more of them' hold h3 old --shared
check 'force: all at once' code 0 on h2 unlock old --force --reason 'clear'
check 'force: is free' is_free h2 old
wait "${holders[@]}"
holders=()
start_on h1 run cmd -- sleep 1000 2>"$work/held.err"
holder=$!
await is_listed '^held' cmd
check 'force: who runs a command' code 0 \
    on h1 unlock cmd --force --reason 'go away'
check 'force: a command' code 122 wait $holder
check 'force: it says why' grep -F 'go away' "$work/held.err"
done_checking
