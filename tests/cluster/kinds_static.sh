#!/bin/bash
#   kinds_static.sh - keys, locks that outlive their processes, and operators
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Static locks that outlive their process, its lock service, its host and
#   the home of the lock; locks that linger and are handed on; over-age holders
#   that are cleaned up when somebody waits; force, and checks of tokens.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source=tests/cluster/kinds_tap.sh
. "$(dirname "$0")/kinds_tap.sh"
host_lease_ms=3200 grace_ms=6000
make_hosts 4
clients h1 a b
client c h2
client e h3

#   ------------------------------------------------------------ over-age

#   "Looks for dead entries while we are waiting to acquire": who is over its
#   duration keeps the lock until then, and is told that it is late.
expect 'locked 1' a get old device context=clean duration=500 lenient
sleep 0.8
expect yes a held old
expect full c get new device context=clean
expect ok c ask new device context=clean wait=-1
expect 'lost timedout' a wait old
expect nothing c wait new 300
expect late a release old
expect granted c wait new
expect ok c release new
#   And one who has died is cleaned up.
client dead h2
expect 'locked 1' dead get old device context=clean duration=500 lenient
kill_client dead
expect 'locked 1' c get new device context=clean wait=60000
expect ok c release new
#   What is static may have nobody who could be asked for it.
expect invalid a get old device duration=500 lenient static

#   ------------------------------------------------------------ static

#   "Those that survive a disconnect": it outlives its process.
client static h3
expect 'locked 1' static get keep keep static
key=$(reply static key keep)
token=$(reply static token keep)
kill_client static
sleep 0.3
expect full a get keep keep
expect "ok $token" a check keep "$token"
expect ok a unlock keep "$key"
expect unknown a unlock keep "$key"
expect 'locked 1' a get keep keep
expect "denied $(reply a token keep)" c check keep "$token"
expect ok a release keep

#   is_kept: nobody else gets it, and its token is the newest.
is_kept () {
    is_reply full a get keep keep && is_reply "ok $token" c check keep "$token"
}

kept_again () {
    await is_kept >/dev/null
}

home=$(on h1 status --object keep | awk '$1 == "home" { print $2 }')
host=h4
[ "$home" != h4 ] || host=h3
echo "# the home of 'keep' is $home, its holder on $host"
client static $host
expect 'locked 1' static get keep keep static
key=$(reply static key keep)
token=$(reply static token keep)
kill_client static
check 'its lock service is killed' kill_daemon $host lockd
sleep 4
check 'a static lock outlives it' is_kept
check 'and its host' kill_daemon $host router
sleep 1
check 'still' is_kept
start_host $host
check 'and what comes after it' kept_again
check 'its home dies' kill_host "$home"
case $home in
    h1) kill_client a b ;;
    h2) kill_client c ;;
    h3) kill_client e ;;
esac
start_host "$home"
check 'all are ready again' hosts_get all_ready
case $home in
    h1) clients h1 a b ;;
    h2) client c h2 ;;
    h3) client e h3 ;;
esac
check 'it outlives its home, too' is_kept
expect denied e unlock keep "$(printf %016x $((0x$key ^ 1)))"
check 'only its key ends it' is_kept
expect ok e unlock keep "$key"
expect 'locked 1' a get keep keep
expect ok a release keep

#   Its process goes in good order, or leaves it behind, and its duration
#   counts.
client static h2
expect 'locked 1' static get one one static
expect 'locked 1' static get two two static duration=2000
expect 'locked 1' static get three three static
expect ok static leave one
key=$(reply static key three)
expect ok static release three
end_client static
expect full a get one one
expect unknown a unlock three "$key"
expect 'locked 1' a get two two wait=60000
expect ok a release two
expect ok a force one 'tidying-up'
expect 'locked 1' c get one one
expect ok c release one

#   On the command line.
lock_for_good () {
    eval "$(on h1 lock --static good)"
    [ -n "$key" ] && [ -n "$token" ]
}
check 'lock --static' lock_for_good
expect full c get good good
check 'unlock' on h2 unlock good "$key"
expect 'locked 1' c get good good
expect ok c release good

#   ------------------------------------------------------------ linger

client short h1
expect 'locked 1' short get x x linger=60000
key=$(reply short key x)
token=$(reply short token x)
kill_client short
expect full a get x x
expect full a get x x key=1
expect 'locked 1' a get x x "key=$key"
check 'it is the same lock' test "$(reply a token x)" = "$token"
expect yes a held x
expect ok a release x
expect 'locked 1' c get x x
expect ok c release x

client short h1
expect 'locked 1' short get x x linger=5000
kill_client short
expect full c get x x
expect 'locked 1' c get x x wait=60000
expect ok c release x

client short h1
expect 'locked 1' short get x x linger=60000
key=$(reply short key x)
kill_client short
expect ok c unlock x "$key"
expect 'locked 1' c get x x
expect ok c release x

#   ------------------------------------------------------------ operators

for n in 1 2 3; do
    expect "locked $n" c get "u$n" units semaphore limit=3
done
expect ok a ask u units semaphore limit=3 wait=-1
token=$(reply c token u2)
expect ok e force units maintenance
for n in 1 2 3; do
    expect 'lost forced' c wait "u$n"
    expect maintenance c reason "u$n"
done
expect granted a wait u
check 'a token of before is not good any more' \
    is_reply "denied $(reply a token u)" e check units "$token"
expect ok a release u
expect unknown e force units
expect 'denied 0' e check units "$token"
for n in 1 2 3; do
    check "c gives back u$n" starts_with forced c release "u$n"
done

expect 'locked 1' c get u units
check 'unlock --force' on h3 unlock units --force --reason 'disk full'
expect 'lost forced' c wait u
expect 'disk full' c reason u
check 'c gives it back' starts_with forced c release u

check 'nothing is left' await no_tickets
finish_test
