#!/bin/bash
#   try.sh - installs, runs, upgrades, removes and purges the Debian packages
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   try.sh VERSION          (`make check-deb`)
#
#   Three fresh Debians with systemd as their first process, in namespaces of
#   their own on a bridge: what systemd makes of the units is seen, not
#   guessed. Needs root, debootstrap and, the first time, Debian's archive:
#   what was got from there is kept in $BUILD/deb. It leaves no process, mount
#   or control group behind. MIRROR= is another archive.
#
#       world.sh      makes the hosts, and runs what is said on one of them
#       contents.sh   the packages themselves, before anything runs
#       people.sh     users and administrators of a host
#       machine.sh    one more machine, with lockkeeper-client alone

set -u
cd "$(dirname "$0")/../.." || exit 2
version=${1:?VERSION}
next=$version+next
BUILD=${BUILD:-$PWD/build}
kept=$BUILD/deb
cases=0 bad=0
# shellcheck source=tests/deb/world.sh
. tests/deb/world.sh

#   check TITLE COMMAND...: the command has to succeed.
check () {
    local title=$1
    shift
    cases=$((cases + 1))
    if "$@" >"$work/out" 2>&1; then
        echo "ok $cases - $title"
    else
        echo "not ok $cases - $title"
        echo "# $*"
        sed 's/^/# /' "$work/out"
        bad=$((bad + 1))
    fi
}

#   within SECONDS COMMAND...: it succeeds some time before that.
within () {
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt "$until" ] || return 1
        sleep 0.2
    done
}

no () {
    ! "$@"
}

#   The number of a daemon's process.
pid_of () {
    on "$1" systemctl show -p MainPID --value "lockkeeper-$2"
}

other_pid () {
    [ "$(pid_of "$1" "$2")" != "$3" ] && [ "$(pid_of "$1" "$2")" != 0 ]
}

#   status_has HOST DAEMON TEXT: in its line of `systemctl status`.
status_has () {
    on "$1" systemctl show -p StatusText "lockkeeper-$2" | grep -F -e "$3"
}

is_active () {
    on "$1" systemctl -q is-active "lockkeeper-$2"
}

holds_gate () {
    on "$1" lockkeeper list | grep -E '^held.* gate$'
}

# shellcheck source=tests/deb/contents.sh
. tests/deb/contents.sh

#   ------------------------------------------------------------ three hosts

hosts='h1 h2 h3'
for host in $hosts; do
    boot "$host"
done
check 'h1: is the first of a cluster' on h1 lockkeeper init --first \
    --cluster one
#   start_on HOST: both daemons, and locks can be had.
start_on () {
    check "$1: router and lock service start" on "$1" \
        systemctl enable --now lockkeeper-router lockkeeper-lockd
    check "$1: locks can be had" on "$1" lockkeeper wait-ready
}
#   invited HOST: by the first, and joins it.
invited () {
    on h1 lockkeeper invite | on "$1" lockkeeper init --join --invitation -
}
start_on h1
for host in h2 h3; do
    check "$host: is to join it" invited "$host"
    start_on "$host"
done
for host in h2 h3; do
    check "$host: becomes a member" on "$host" lockkeeper cluster add "$host"
    check "$host: and would have by itself" within 5 \
        no on "$host" test -e /var/lib/lockkeeper/join
done
check 'the router tells which hosts it sees' within 5 \
    status_has h1 router 'host h1 sees 3 of 3 hosts'
check 'the lock service tells that locks can be had' within 5 \
    status_has h2 lockd 'locks can be had; cluster one, leaders'
on_quietly h1 setpriv --reuid nobody --regid nogroup --groups lockkeeper \
    lockkeeper run gate -- sh -c '
        echo $LOCKKEEPER_TOKEN >/tmp/token; sleep 1000'
check 'who is in the group gets a lock' within 5 holds_gate h2
check 'who is not does not' no on h1 setpriv --reuid nobody --regid nogroup \
    --clear-groups timeout 5 lockkeeper run other -- true
check 'the journal has lines without time, and priorities' on h1 sh -c '
    journalctl -u lockkeeper-router -o json | grep "router: down -> up" |
        grep "\"PRIORITY\":\"5\"" | grep "\"MESSAGE\":\"router: down"'
check 'and nothing in front of them' no on h1 sh -c "
    journalctl -o cat -u 'lockkeeper-*' | grep -E '^(<[0-9]>|[0-9]|lockkeeper-)'"
# shellcheck source=tests/deb/people.sh
. tests/deb/people.sh
# shellcheck source=tests/deb/machine.sh
. tests/deb/machine.sh

#   In tenths; a sandbox that is off has more.
for unit in lockd:7 router:18 issuer:15; do
    check "the sandbox of ${unit%:*} is as tight as it was" on h1 \
        systemd-analyze security --no-pager --threshold="${unit#*:}" \
        "lockkeeper-${unit%:*}.service"
done
check 'they run as their user' on h1 sh -c '
    [ "$(ps -o user= -C lockkeeper-router,lockkeeper-lockd | sort -u)" = \
        lockkeeper ]'
check 'nobody else writes into their folders' on h1 sh -c '
    [ "$(stat -c "%U %a" /run/lockkeeper /var/lib/lockkeeper | xargs)" = \
        "lockkeeper 755 lockkeeper 700" ]'
check 'a program in Python gets a lock' on h1 setpriv --reuid nobody \
    --regid nogroup --groups lockkeeper env HOME=/tmp python3 -c "
import lockkeeper
with lockkeeper.Lock('snake', timeout=10) as lock:
    assert lock.held and lock.token > 0"
check 'so does one that loads the library' on h1 python3 -c "
import ctypes
library = ctypes.CDLL('liblockkeeper.so.1')
library.lk_session_new.restype = ctypes.c_void_p
assert library.lk_session_new(None)"

#   ------------------------------------------------------------ faults

old=$(pid_of h1 router)
on h1 kill -KILL "$old"
check 'a router that is killed is started again' within 5 \
    other_pid h1 router "$old"
check 'which the lock service finds' within 5 status_has h1 lockd 'can be had'
old=$(pid_of h1 router)
on h1 kill -STOP "$old"
check 'one that hangs is, too' within 6 other_pid h1 router "$old"
check 'and is found' within 5 status_has h1 lockd 'can be had'
old=$(pid_of h1 router) lockd=$(pid_of h1 lockd)
old=$(pid_of h2 lockd)
on h2 kill -KILL "$old"
check 'so is a lock service that is killed' within 5 other_pid h2 lockd "$old"
check 'and locks can be had there' within 10 on h2 timeout 9 lockkeeper run \
    another -- true
old=$(pid_of h1 router)
check 'a router is restarted' on h1 systemctl restart lockkeeper-router
check 'it is another process' other_pid h1 router "$old"
check 'the lock service is not' no other_pid h1 lockd "$lockd"
check 'it reads its configuration again' on h1 systemctl reload \
    lockkeeper-router
check 'all that ended no lock' within 5 holds_gate h2
old=$(pid_of h3 lockd)
on h3 kill -STOP "$old"
sleep 5
check 'a lock service may hang for a while' no other_pid h3 lockd "$old"
check 'then it is started again' within 9 other_pid h3 lockd "$old"
check 'and locks can be had there' within 10 on h3 timeout 9 lockkeeper run \
    another -- true
echo '    nonsense = 1' | on h3 tee /etc/lockkeeper/lockkeeper.conf.d/x.conf \
    >/dev/null
check 'a wrong configuration is not read again' no on h3 \
    systemctl reload lockkeeper-router
check 'the router goes on as it was' is_active h3 router
check 'with one it does not start' no on h3 \
    systemctl restart lockkeeper-router
check 'is not tried again' within 3 on h3 systemctl -q is-failed \
    lockkeeper-router
check 'and the journal has the file, as an error' on h3 sh -c '
    journalctl -u lockkeeper-router -p err | grep lockkeeper.conf.d/x.conf'
on h3 rm /etc/lockkeeper/lockkeeper.conf.d/x.conf
check 'it starts when that is mended' on h3 systemctl restart lockkeeper-router
check 'a host has its power cut' halt h3
boot h3
check 'when it is back, both run' within 10 is_active h3 lockd
check 'and it is a member as before' on h3 sh -c '
    timeout 20 lockkeeper wait-ready &&
        lockkeeper cluster members | grep "3 members, 3 seen"'
check 'its lock service is to be a plug-in' on h3 sh -c '
    lockkeeper config set router/plugin lock &&
        systemctl disable --now lockkeeper-lockd'
check 'a router starts with the lock service in it' on h3 \
    systemctl restart lockkeeper-router
check 'and locks can be had there, too' within 10 on h3 timeout 9 \
    lockkeeper run another -- true

#   ------------------------------------------------------------ upgrade, stop

give () {
    cp "$kept/$next"/*.deb "$(root_of "$1")/root/" &&
        rm -f "$(root_of "$1")/root/"*dbgsym*
}
#   It is held with the token of old, and its program still runs.
same_lock () {
    on h2 lockkeeper check gate "$(on h1 cat /tmp/token)" &&
        holds_gate h2 && on h1 pgrep -x sleep
}
check 'the lock is as it was' same_lock
old=$(pid_of h1 lockd) router=$(pid_of h1 router)
check 'the next version is there' give h1
check 'it is installed' on h1 sh -c 'dpkg -i /root/*next*.deb'
check 'which restarts the lock service' within 5 other_pid h1 lockd "$old"
check 'and the router' within 5 other_pid h1 router "$router"
check 'they are of the next version' within 5 on h1 sh -c \
    "lockkeeper status | grep -F 'lock' | grep -F '$next'"
check 'locks can be had' on h1 lockkeeper wait-ready
check 'the lock lived on, with the same token' within 5 same_lock
check 'both are restarted at once' on h1 \
    systemctl restart lockkeeper-router lockkeeper-lockd
check 'locks can be had' on h1 lockkeeper wait-ready
check 'the lock lived on' within 5 same_lock
sleep 9
check 'a lease later, too' same_lock
began=$SECONDS
check 'both stop' on h1 systemctl stop lockkeeper-router lockkeeper-lockd
check 'in good order, and at once' test $((SECONDS - began)) -le 5
check 'which is a success' on h1 sh -c '
    for d in router lockd; do
        [ "$(systemctl show -p Result --value lockkeeper-$d)" = success ]
    done'

#   ------------------------------------------------------------ the end

boot h4
cp debian/tests/smoke "$(root_of h4)/root/"
check 'the test that the packages bring along passes' on h4 /root/smoke
check 'its other one is named, too' sh -c '
    for test in $(sed -n "s/^Tests: //p" debian/tests/control); do
        [ -x "debian/tests/$test" ] || exit 1
    done'

check 'they start again' on h1 \
    systemctl start lockkeeper-router lockkeeper-lockd
check 'the package is removed' on h2 apt-get remove -y lockkeeper
check 'its daemons are gone' no on h2 pgrep lockkeeper
check 'configuration and state are not' on h2 \
    ls /etc/lockkeeper/lockkeeper.conf /var/lib/lockkeeper/lock.state
check 'the others go on' on h3 lockkeeper wait-ready
check 'all is purged' on h2 apt-get purge -y lockkeeper \
    lockkeeper-client lockkeeper-issuer lockkeeper-arbiter \
    liblockkeeper1 liblockkeeper-dev \
    python3-lockkeeper
check 'no file is left' on h2 sh -c '
    left=$(find / -xdev \( -path /proc -o -path /sys -o -path /root \) -prune \
        -o -path "*lockkeeper*" -print; ls -d /run/lockkeeper 2>/dev/null)
    [ -z "$left" ] || { echo "$left"; exit 1; }'
check 'the user stays, as Debian has it' on h2 id lockkeeper
check 'and the group of administrators' on h2 getent group lockkeeper-admin

echo "1..$cases"
[ "$bad" = 0 ]
