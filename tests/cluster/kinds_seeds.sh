#!/bin/bash
#   kinds_seeds.sh - what our ancestors' pages show, typed in as it stands there
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Canal locks, clusterlock and OpenCluster's locks, between applications on
#   three hosts.

# shellcheck source=tests/cluster/hosts.sh
. "$(dirname "$0")/hosts.sh"
# shellcheck source=tests/cluster/kinds_tap.sh
. "$(dirname "$0")/kinds_tap.sh"
make_hosts 3
clients h1 a b
clients h2 c d
clients h3 e f

#   ------------------------------------------------------------ canal

#   The shell of its page: what is typed, and what it answers.
canal_steps () {
    cat <<'STEPS'
acquire db 3 1 = acquired 1
acquire db 3 1 = acquired 2
acquire db 3 1 = acquired 3
acquire db 3 1 = full
acquire db 3 2 = acquired 4
acquire db 3 1 = full
release db 3 1 = ok
acquire db 3 1 = full
release db 3 2 = ok
acquire db 3 1 = acquired 3
acquire db 3 1 = full
STEPS
}

canal_page () {
    canal_steps | sed 's/ = .*//' |
        LOCKKEEPER_ENDPOINT=ipc://$where/h2/router "$BUILD/examples/canal" \
            >"$work/canal"
    diff <(canal_steps | sed 's/.* = //') "$work/canal"
}
check 'canal: the page of its usage' canal_page
check 'canal: all is given back with its end' await no_tickets

#   "B A C E D: 1, 2, 3, blocked, 4": each a process of its own.
expect 'locked 1' b get u app semaphore limit=3
expect 'locked 2' a get u app semaphore limit=3
expect 'locked 3' c get u app semaphore limit=6
expect full e get u app semaphore limit=3
expect 'locked 4' d get u app semaphore limit=6
expect ok c release u
expect full e get u app semaphore limit=3
expect ok a release u
expect 'locked 3' e get u app semaphore limit=3
for app in b d e; do
    expect ok $app release u
done

#   ------------------------------------------------------------ clusterlock

#   lock = Lock("device", "snmp-query"); lock.acquire()
expect 'locked 1' a get lock device context=snmp-query wait=-1
expect 'locked 1' c get lock device context=get-config wait=-1
expect timedout d get lock device context=snmp-query wait=300
expect full d get lock device context=snmp-query
expect ok a release lock
expect 'locked 1' d get lock device context=snmp-query wait=60000
expect ok d release lock
expect ok c release lock

#   Semaphore ("device", "get-config", value=5, max_bound=5, duration=2): the
#   first who comes defines the bound, and later ones do not change it.
semaphore='semaphore bound=5 context=get-config'
for n in 1 2 3; do
    expect "locked $n" a get "s$n" device $semaphore
done
expect 'locked 4' c get s4 device semaphore bound=50 context=get-config
expect 'locked 5' e get s5 device $semaphore limit=50
expect full f get s6 device $semaphore
expect full f get s6 device semaphore bound=50 context=get-config
expect ok c release s4
expect 'locked 5' f get s6 device $semaphore
for n in 1 2 3; do
    expect ok a release "s$n"
done
expect full d get s4 device $semaphore limit=2
expect ok e release s5
expect 'locked 2' d get s4 device $semaphore limit=2
expect ok d release s4
expect ok f release s6
expect 'locked 1' f get s6 device semaphore bound=7 context=get-config
expect ok f release s6

#   acquire_all (locks, total_wait): all or nothing.
expect 'locked 1' a get fork fork2
expect timedout c all forks fork1 fork2 fork3 -- wait=500
expect 'locked 0' e all forks fork3 fork1 -- wait=60000
expect full c all forks fork1 fork2 fork3
expect ok a release fork
expect timedout c all forks fork1 fork2 fork3 -- wait=500
expect 'locked 1' a get fork fork2
expect ok a release fork
expect ok e release forks
expect 'locked 0' c all forks fork1 fork2 fork3 -- wait=60000
expect full a get fork fork2
expect ok c release forks
expect 'locked 0' a all forks fork2 fork1
expect ok a release forks

#   ------------------------------------------------------------ OpenCluster

#   "In order to unlock it, the client must provide this unlock-key."
expect 'locked 1' a get gate gate
key=$(reply a key gate)
wrong=$(printf %016x $((0x$key ^ 1)))
check 'the key has 64 bits, and is not 0' \
    grep -qxE '[0-9a-f]{16}' <<<"${key#0000000000000000}"
expect denied c unlock gate "$wrong"
expect denied c unlock gate 0
expect unknown c unlock other "$key"
expect full c get gate gate
expect ok e unlock gate "$key"
expect 'lost released' a wait gate
expect released a release gate
expect 'locked 1' c get gate gate
expect denied e unlock gate "$key"
expect full e get gate gate
check 'every lock has a key of its own' test "$(reply c key gate)" != "$key"
expect ok c release gate
expect unknown e unlock gate "$key"

#   Another lock "is released automatically if the caller loses connectivity".
client plain h3
expect 'locked 1' plain get keep keep
kill_client plain
expect 'locked 1' a get keep keep wait=60000
expect ok a release keep

#   "Locks can also have a time-limit."
expect 'locked 1' a get short short duration=2000
expect ok c ask short short wait=-1
expect 'lost timedout' a wait short
expect nothing c wait short 300
expect late a release short
expect granted c wait short
expect ok c release short

#   "The actual name is a binary string", of any bytes.
bytes=$(printf '%02x' {0..255})
expect 'locked 1' a get name "hex:$bytes"
expect full e get name "hex:$bytes"
expect 'locked 1' e get name "hex:${bytes%ff}fe"
expect 'locked 1' e get zero hex:00
expect 'locked 1' e get zeroes hex:0000
expect full a get zero hex:00
expect ok a release name
expect ok e release name
expect ok e release zero
expect ok e release zeroes
expect 'locked 1' a get big big:4096
expect full c get big big:4096
expect 'locked 1' c get less big:4095
expect invalid c get more big:4097
expect invalid c get none hex:
expect ok c release less
expect ok a release big

#   On the command line: all that an argument can have.
bytes=$(printf '\\x%02x' {1..255})
printf -v bytes '%b' "$bytes"
start_on h2 run "$bytes" -- sleep 1000
holder=$!
is_held () {
    [ "$(reply a get name "hex:$(printf '%02x' {1..255})")" = full ]
}
check 'run: a name of all bytes' await is_held
check 'list shows it' says 0 '\xff' on h1 list
kill $holder
wait $holder
printf -v long '%*s' 4096 ''
check 'run: 4096 bytes' code 0 on h1 run "$long" -- true
check 'run: 4097 bytes' code 125 on h1 run "$long-" -- true
check 'run: no byte' code 125 on h1 run '' -- true
check 'nothing is left' await no_tickets
for app in a b c d e f; do
    end_client $app
done
finish_test
