# shellcheck shell=bash
#   hosts.sh - hosts of a cluster, and all that can be done to them
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced at the very beginning, with no arguments; it starts the script
#   anew, with the same arguments, where hosts can be had. A test in short:
#
#       . "$(dirname "$0")/hosts.sh"
#       make_hosts 3                          # h1 h2 h3 = ${hosts[@]}
#       start_load one h1 --style hold --object gate
#       cut h1 'h2 h3'
#       ...
#       heal
#       check 'every application got its answers' stop_loads one
#       finish_test
#
#   Each host is a network namespace on a bridge; a cut is a rule of nftables
#   at whoever would receive, so no sender is told. All is inside of
#   namespaces of our own (pid, mount, net; a user's, too, if we are not
#   root), so nothing is left when we are killed. Where that is not permitted
#   hosts are processes on 127.x.y.N, x.y being of our own number: $mode is
#   loopback, cuts can't be had, and the test says so. LOOPBACK=1 asks for it.
#
#   With $LK_HOSTED=1 routers host the lock services; what is done to one is
#   done to its router.
#
#   Before make_hosts N, which waits until locks can be had on all:
#       members      names of the first members; by default all hosts. The
#                    others have no state: they are proxies, and ready too.
#       voters       names of members that never lead
#       leaders      how many leaders all_full expects; by default 3, or as
#                    many as an odd number of members allows
#       lockd        another program as lock service
#       dead_after_ms, leader_lease_ms, host_lease_ms, grace_ms;
#       options=(...)   more options of lock services
#       clients=7412    a port for applications on other machines, on each
#   More hosts later: add_host h8 (all others have to know its address by
#   then, so make_hosts as many as there will ever be, and start them later:
#   idle='h6 h7' before make_hosts leaves them down; start_host h6).
#
#   Faults; HOSTS is one name or several in quotes. Whoever may lose locks by
#   it is noted in the history (the first HOSTS):
#       cut HOSTS HOSTS         silently, both ways; others are not touched
#       one_way HOSTS HOSTS     the first are not heard by the second
#       isolate HOST            cut from all others
#       heal                    all cuts are over
#       stop_host, kill_host HOST; start_host HOST   TERM, KILL; both daemons
#       stop_daemon, kill_daemon, start_daemon HOST router|lockd
#       pause HOST WHAT..., resume HOST              SIGSTOP; WHAT: router,
#                               lockd, apps (those of start_load), as one
#       fill_disk HOST state|run, empty_disk HOST state|run   of state file
#                               or lease page
#       descriptors HOST router|lockd N|all          may open N more
#   Looks: hosts_get all_ready|all_full, status_of HOST, log_has HOST DAEMON
#   TEXT, leaders_of HOST, know_leaders HOST [N], pid_of HOST DAEMON, on HOST
#   VERB...
#   Applications: load_tap.sh; start_own HOST has two locks, HOST.0 and
#   HOST.1 (own_of HOST...), taken and given back again and again, with a rest
#   of $rest_ms.

inside='--mount --net --pid --fork --kill-child --mount-proc'

#   probe OPTIONS...: may we, and is there all that it takes?
probe () {
    # shellcheck disable=SC2086
    unshare "$@" $inside sh -c 'mount -t tmpfs none /run && mkdir /run/netns &&
        ip netns add a && ip link add v0 type veth peer name v1 netns a &&
        ip link add bridge0 type bridge && nft add table ip t &&
        nsenter --net=/run/netns/a setpriv true' >/dev/null 2>&1
}

#   Runs the script in namespaces, if that can be; else returns.
move_inside () {
    local user=
    probe || {
        user='--user --map-root-user'
        # shellcheck disable=SC2086
        probe $user || return 0
    }
    # shellcheck disable=SC2086
    HOSTS_INSIDE=1 setpriv --pdeathsig KILL unshare $user $inside \
        bash "$0" "$@" &
    trap 'kill -9 $! 2>/dev/null' EXIT
    trap 'exit 1' TERM INT HUP
    wait $!
    exit
}

BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
export BUILD
mode=loopback
if [ -n "${HOSTS_INSIDE:-}" ]; then
    mode=namespaces
    mount -t tmpfs none /run && mkdir /run/netns /run/lk || exit 1
    export TMPDIR=/run
elif [ -z "${LOOPBACK:-}" ]; then
    move_inside "$@"
fi
# shellcheck source=tests/cluster/load_tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/load_tap.sh"
where=$work/hosts
export LOCKKEEPER_SANDBOX=$where
dead_after_ms=500 leader_lease_ms=1000 host_lease_ms=4000 grace_ms=60000
rest_ms=${REST_MS:-30}
hosts=() options=() idle='' members='' leaders='' watch='' clients='' voters=''
declare -A address=()
[ "$mode" = namespaces ] ||
    echo "# namespaces not permitted: the hosts are processes over loopback"

#   ------------------------------------------------------------ making hosts

#   in_host HOST COMMAND...
in_host () {
    local host=$1
    shift
    nsenter --net=/run/netns/"$host" "$@"
}

#   A host's own disks for state (with a journal) and lease page, and its plug.
plug () {
    local host=$1
    mkdir -p "$where/$host/state" "$where/$host/run" || return 1
    [ "$mode" = namespaces ] || return 0
    mount -t tmpfs -o size=8m "$host" "$where/$host/state" &&
        mount -t tmpfs -o size=64k "$host" "$where/$host/run" &&
        ip netns add "$host" &&
        ip link add "to-$host" type veth peer name eth0 netns "$host" &&
        ip link set "to-$host" master bridge0 up &&
        in_host "$host" ip link set lo up &&
        in_host "$host" ip addr add "${address[$host]}/24" dev eth0 &&
        in_host "$host" ip link set eth0 up &&
        in_host "$host" nft -f - <<'RULES'
table ip cut {
    set deaf_to { type ipv4_addr; }
    chain in {
        type filter hook input priority 0;
        ip saddr @deaf_to drop
    }
}
RULES
}

#   Addresses of the loopback that copies of this test do not have.
choose_addresses () {
    local i host net=10.77.0
    [ "$mode" = namespaces ] || net=127.$(($$ / 250 % 250 + 1)).$(($$ % 250))
    for ((i = 1; i <= $1; i++)); do
        host=h$i
        hosts+=("$host")
        address[$host]=$net.$i
    done
}

#   The options that a daemon of a host has.
options_of () {
    local host=$1 other
    if [ "$2" = router ]; then
        printf '%s\n' "--host=$host" "--dead-after=$dead_after_ms" \
            "--listen=tcp://${address[$host]}:7411"
        for other in "${hosts[@]}"; do
            printf '%s\n' "--neighbour=${address[$other]}:7411"
        done
        [ -z "$clients" ] || printf '%s\n' \
            "--listen-clients=tcp://${address[$1]}:$clients" \
            "--clients-keys=$where/$1/state/clients-keys"
    else
        printf '%s\n' "--state=$where/$host/state" "--run=$where/$host/run" \
            "--dead-after=$dead_after_ms" "--leader-lease=$leader_lease_ms" \
            "--host-lease=$host_lease_ms" "--grace=$grace_ms" "${options[@]}"
        case " $voters " in
            *" $host "*) echo --priority=off ;;
        esac
    fi
}

#   A router's configuration: hosted services have no options of their own.
write_config () {
    echo router
    [ -z "${LK_HOSTED:-}" ] || echo '    plugin = lock'
    echo lock
    options_of "$1" lockd | sed 's/^--\(.*\)=\(.*\)$/    \1 = "\2"/'
}

#   Its log grows through a pipe, so that a limit of file sizes is the
#   state's alone.
launch () {
    local host=$1 name=$2 line into=(setpriv --pdeathsig KILL)
    local program=$BUILD/lockkeeper-$name
    [ "$name" = router ] || program=${lockd:-$program}
    [ "$mode" = loopback ] || into=(nsenter --net=/run/netns/"$host")
    mapfile -t line < <(options_of "$host" "$name")
    write_config "$host" >"$where/$host/lockkeeper.conf"
    (
        trap '' XFSZ
        exec "${into[@]}" "$program" \
            "--config=$where/$host/lockkeeper.conf" \
            "--endpoint=ipc://$where/$host/router" "${line[@]}"
    ) > >(exec cat >>"$where/$host/$name.log") 2>&1 &
    echo $! >"$where/$host/$name.pid"
    disown
}

#   make_state HOST: the first state of a member.
make_state () {
    case " ${members:=${hosts[*]}} " in
        *" $1 "*) "$lockkeeper" init --cluster cut --members "${members// /,}" \
            --host "$1" --state "$where/$1/state" ;;
    esac
}

build_hosts () {
    local host
    [ "$mode" = loopback ] || {
        ip link add bridge0 type bridge && ip link set bridge0 up
    } || return 1
    for host in "${hosts[@]}"; do
        plug "$host" && make_state "$host" || return 1
    done
}

#   make_hosts N: what make_hosts says before that holds.
make_hosts () {
    local host count
    choose_addresses "$1"
    check "$1 hosts, $mode" build_hosts
    setpriv --pdeathsig KILL "$history" stalls "$work/stalls.history" \
        "${hosts[@]}" &
    watch=$!
    disown
    count=$(wc -w <<<"$members")
    leaders=${leaders:-$((count < 3 ? 1 : 3))}
    for host in "${hosts[@]}"; do
        case " $idle " in
            *" $host "*) ;;
            *) start_host "$host" ;;
        esac
    done
    check 'locks can be had on all' hosts_get all_full
    [ "$bad" = 0 ] || finish_test
}

#   ------------------------------------------------------------ daemons

note_fault () {
    "$history" fault "$work/faults.history" "$1" "$2"
}

note_healed () {
    "$history" heal "$work/faults.history" "$1"
}

#   start_daemon HOST router|lockd
start_daemon () {
    launch "$1" "$(daemons "$2")"
    note_healed "$1"
}

start_host () {
    restart "$1" router lockd
}

add_host () {
    local n=${1#h}
    hosts+=("$1")
    address[$1]=${address[h1]%.*}.$n
    plug "$1" && start_host "$1"
}

#   As load_tap.sh has it for a sandbox.
restart () {
    local host=$1 name
    shift
    for name in $(daemons "$@"); do
        start_daemon "$host" "$name"
    done
}

#   is_dead HOST DAEMON; who was paused is not, whatever signals it got.
is_dead () {
    local pid
    pid=$(pid_of "$1" "$2") && ! kill -0 "$pid" 2>/dev/null
}

both_dead () {
    is_dead "$1" lockd && is_dead "$1" router
}

kill_daemon () {
    hit "$1" 9 "$2" >/dev/null && await is_dead "$1" "$2"
}

stop_daemon () {
    hit "$1" 15 "$2" >/dev/null && await is_dead "$1" "$2"
}

kill_host () {
    hit "$1" 9 lockd router >/dev/null && await both_dead "$1"
}

stop_host () {
    local name
    for name in $(daemons lockd router); do
        stop_daemon "$1" "$name" || return 1
    done
}

status_of () {
    ready "$1"
    cat "$work/status.$1"
}

leaders_of () {
    status_of "$1" | awk '$1 == "leaders" { $1 = ""; print }'
}

#   know_leaders HOST [N]: their names in `now`, as soon as it knows of so many;
#   else of all.
know_leaders () {
    await knows_leaders "$1" "${2:-$leaders}"
}

knows_leaders () {
    read -ra now < <(leaders_of "$1")
    [ "${#now[@]}" -ge "$2" ]
}

log_has () {
    grep -qF -- "$3" "$where/$1/$(daemons "$2").log"
}

start_own () {
    start_load "own-$1" "$1" --style steady --object "$1." --objects 2 \
        --rest "$rest_ms"
}

own_of () {
    printf '%s ' "${@/%/.0}" "${@/%/.1}"
}

#   ------------------------------------------------------------ pauses

#   pids_on HOST WHAT...
pids_on () {
    local host=$1 what
    shift
    for what in "$@"; do
        case $what in
            apps) apps_of "$host" ;;
            *) pid_of "$host" "$what" ;;
        esac
    done | sort -u
}

#   Prints when it began.
pause () {
    local host=$1 pids
    shift
    read -rd '' -a pids < <(pids_on "$host" "$@")
    "$history" kill "$work/faults.history" "$host" "paused-${*// /+}" 19 \
        "${pids[@]}"
}

resume () {
    local host=$1 pids
    shift
    read -rd '' -a pids < <(pids_on "$host" "$@")
    kill -CONT "${pids[@]}"
    note_healed "$host"
}

#   ------------------------------------------------------------ cuts

#   deaf HOST OTHER: it hears nothing from it any more.
deaf () {
    in_host "$1" nft add element ip cut deaf_to "{ ${address[$2]} }"
}

others_of () {
    printf '%s\n' "${hosts[@]}" | grep -vx "$1" | tr '\n' ' '
}

#   one_way HOSTS HOSTS
one_way () {
    local one two
    for one in $1; do
        note_fault "$one" one-way
    done
    for one in $1; do
        for two in $2; do
            deaf "$two" "$one" || return 1
        done
    done
}

cut () {
    local one two
    one_way "$1" "$2" || return 1
    for one in $1; do
        for two in $2; do
            deaf "$one" "$two" || return 1
        done
    done
}

isolate () {
    cut "$1" "$(others_of "$1")"
}

heal () {
    local host
    for host in "${hosts[@]}"; do
        in_host "$host" nft flush set ip cut deaf_to || return 1
        note_healed "$host"
    done
}

#   ------------------------------------------------------------ what runs out

#   Without disks of our own its files may just have no bytes.
fill_disk () {
    note_fault "$1" full-disk
    if [ "$mode" = loopback ]; then
        prlimit --pid "$(pid_of "$1" lockd)" --fsize=1
    else
        ! cat /dev/zero >"$where/$1/$2/ballast" 2>/dev/null
    fi
}

#   Without disks of our own the limit ends with the process.
empty_disk () {
    rm -f "$where/$1/$2/ballast"
}

#   descriptors HOST DAEMON N: it may open N more, but not change that; or
#   all that it could before.
descriptors () {
    local pid left=$3 next=0
    pid=$(pid_of "$1" "$2")
    if [ "$3" = all ]; then
        prlimit --pid "$pid" --nofile="$(cat "$work/nofile.$pid")":
        return
    fi
    [ -e "$work/nofile.$pid" ] ||
        prlimit --pid "$pid" --nofile --noheadings --output SOFT \
            >"$work/nofile.$pid"
    while [ -e "/proc/$pid/fd/$next" ] || [ $((left--)) -gt 0 ]; do
        next=$((next + 1))
    done
    note_fault "$1" "descriptors-$2"
    prlimit --pid "$pid" --nofile="$next":
}

#   look_around: how all hosts are when a case fails, for later.
look_around () {
    local host
    for host in "${hosts[@]}"; do
        printf '\n%s, when case %s failed:\n' "$host" "$cases"
        timeout 20 "$lockkeeper" status --endpoint "ipc://$where/$host/router"
        timeout 20 "$lockkeeper" list --own \
            --endpoint "ipc://$where/$host/router"
        timeout 20 "$lockkeeper" list --endpoint "ipc://$where/$host/router"
    done >>"$work/around" 2>&1
}

#   ------------------------------------------------------------ the end

#   finish_test [JUDGE'S OPTIONS]: ends it; the judge looks at all histories.
# shellcheck disable=SC2120
finish_test () {
    local file
    for file in "$work"/*-*.history; do
        [ -e "$file" ] || continue
        check 'the judge is content' judge --lease "$host_lease_ms" \
            --grace $((grace_ms * 6 / 10)) "$@"
        echo "# $(tail -n 1 "$work/out")"
        break
    done
    keep_for_later
    end_hosts
    done_checking
}

#   skip_test WHY: it cannot be had here.
skip_test () {
    echo "ok 1 # SKIP $*"
    cases=1
    done_checking
}

#   In namespaces all ends with us.
end_hosts () {
    local file
    kill_loads
    [ -z "$watch" ] || kill "$watch" 2>/dev/null
    for file in "$where"/*/*.pid; do
        [ ! -e "$file" ] || kill -9 "$(cat "$file")" 2>/dev/null
    done
    [ "$mode" = loopback ] ||
        umount -l "$where"/*/state "$where"/*/run 2>/dev/null
    rm -rf "$work"
}

trap end_hosts EXIT
