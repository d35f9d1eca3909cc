# shellcheck shell=bash
#   servers.sh - other lock services on this machine, for peers.sh
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced after lib.sh. Each SYSTEM has ${nodes[SYSTEM]} nodes and
#       SYSTEM_start I CORE   starts node I, the first time or once more
#       SYSTEM_mode I         prints what it is now: leader, follower, nothing
#   and `up SYSTEM` has them all running, with the leader on the near core and
#   the others on the far one. Then $where are its ports, the leader's first.
#   `down` ends them; who is done for good removes $data.
#
#   They are programs of ours, not the daemons of the system: with ports and
#   settings of their own, and with data in a folder of /dev/shm that goes with
#   them. No directory of the system is touched.

data=$(mktemp -d /dev/shm/bench.XXXXXX) || exit 1
chmod 711 "$data"
declare -A nodes=([etcd]=3 [zookeeper]=3 [redis]=1 [redlock]=3 [postgresql]=1)
server=() # process number of each node
stop_with=TERM
base=0 where='' leader=0

#   ------------------------------------------------------------ processes

#   run I CORE COMMAND...: as node I, without a shell around it. It ends with
#   us in any case.
run () {
    local i=$1 core=$2
    shift 2
    (cd "$data" && exec setpriv --pdeathsig KILL taskset -c "$core" "$@") \
        >>"$data/log$i" 2>&1 &
    server[i]=$!
    disown "$!" # whose end is no news
}

gone () {
    ! kill -0 "$1" 2>/dev/null
}

#   end I: what is stopped or deaf is killed.
end () {
    local pid=${server[$1]:-}
    [ -n "$pid" ] || return 0
    kill "-$stop_with" "$pid" 2>/dev/null
    kill -CONT "$pid" 2>/dev/null
    within 5 gone "$pid" || {
        kill -9 "$pid"
        within 5 gone "$pid"
    }
    unset "server[$1]"
}

down () {
    local i
    for i in "${!server[@]}"; do
        end "$i"
    done
    rm -rf "${data:?}"/*
}

#   ------------------------------------------------------------ ports

#   listens PORT
listens () {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

#   Ten ports from $base on that nobody listens at; above there are those
#   that Linux gives away.
find_ports () {
    local i free=0
    while [ "$free" = 0 ]; do
        base=$((20000 + RANDOM % 1200 * 10)) free=1
        for ((i = 0; i < 10; i++)); do
            ! listens $((base + i)) || free=0
        done
    done
}

#   ask PORT TEXT: the answer on stdout, nothing if there is none.
ask () {
    timeout --foreground 2 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" &&
        printf "$2" >&3 && cat <&3' - "$1" "$2" 2>/dev/null
}

#   ------------------------------------------------------------ leaders

#   Finds one leader and else followers.
all_in_order () {
    local i mode
    leader=''
    for ((i = 0; i < nodes[$1]; i++)); do
        mode=$("$1_mode" "$i")
        [ -n "$mode" ] || return 1
        [ "$mode" != leader ] || leader=$leader$i
    done
    [ "${#leader}" = 1 ]
}

#   pin_nodes together|apart: see lib.sh.
pin_nodes () {
    local i last=$leader
    for i in "${!server[@]}"; do
        [ "$i" = "$leader" ] || {
            pin "$far_core" "${server[i]}"
            last=$i
        }
    done
    pin "$near_core" "${server[leader]}"
    [ "$1" = together ] || pin "$([ "$last" = "$leader" ] &&
        echo "$far_core" || echo "$near_core")" "${server[last]}"
}

#   settle SYSTEM: waits for that and pins them.
settle () {
    local i
    within 30 all_in_order "$1" || {
        tail -n 5 "$data"/log* >&2
        die "$1 does not get ready"
    }
    pin_nodes together
    where=$((base + leader))
    for ((i = 0; i < nodes[$1]; i++)); do
        [ "$i" = "$leader" ] || where=$where,$((base + i))
    done
}

up () {
    local i
    find_ports
    stop_with=TERM
    for ((i = 0; i < nodes[$1]; i++)); do
        "$1_start" "$i" "$([ "$i" = 0 ] && echo "$near_core" ||
            echo "$far_core")"
    done
    settle "$1"
}

#   ------------------------------------------------------------ etcd

#   $etcd_options: heartbeat and election, if not as they come.
etcd_options=()

etcd_start () {
    local i=$1 to=http://127.0.0.1 all='' n
    for n in 0 1 2; do
        all=$all${all:+,}n$n=$to:$((base + 3 + n))
    done
    run "$i" "$2" etcd --name "n$i" --data-dir "$data/$i" \
        --listen-client-urls "$to:$((base + i))" \
        --advertise-client-urls "$to:$((base + i))" \
        --listen-peer-urls "$to:$((base + 3 + i))" \
        --initial-advertise-peer-urls "$to:$((base + 3 + i))" \
        --initial-cluster "$all" --logger zap --log-level error \
        "${etcd_options[@]}"
}

etcd_mode () {
    ask $((base + $1)) 'GET /metrics HTTP/1.0\r\n\r\n' | awk '
        $1 == "etcd_server_has_leader" { has = $2 }
        $1 == "etcd_server_is_leader" { is = $2 }
        END { if (has) { print is ? "leader" : "follower" } }'
}

#   ------------------------------------------------------------ ZooKeeper

zookeeper_tick=2000

zookeeper_start () {
    local i=$1 n
    mkdir -p "$data/$i"
    echo "$i" >"$data/$i/myid"
    {
        printf '%s\n' "tickTime=$zookeeper_tick" initLimit=10 syncLimit=5 \
            "dataDir=$data/$i" "clientPort=$((base + i))" \
            clientPortAddress=127.0.0.1 maxClientCnxns=0 \
            admin.enableServer=false 4lw.commands.whitelist=srvr
        for n in 0 1 2; do
            echo "server.$n=127.0.0.1:$((base + 3 + n)):$((base + 6 + n))"
        done
    } >"$data/$i.cfg"
    run "$i" "$2" java -Xmx512m -cp /usr/share/java/zookeeper.jar \
        org.apache.zookeeper.server.quorum.QuorumPeerMain "$data/$i.cfg"
}

zookeeper_mode () {
    ask $((base + $1)) srvr | sed -n 's/^Mode: //p'
}

#   ------------------------------------------------------------ Redis

redis_start () {
    run "$1" "$2" redis-server --bind 127.0.0.1 --port $((base + $1)) \
        --save '' --appendonly no
}

#   The first one counts as the leader.
redis_mode () {
    listens $((base + $1)) || return
    [ "$1" = 0 ] && echo leader || echo follower
}

#   Three that know nothing of each other.
redlock_start () {
    redis_start "$@"
}

redlock_mode () {
    redis_mode "$@"
}

#   ------------------------------------------------------------ PostgreSQL

#   It does not run as root; its package has made a user.
as_postgres=()
[ "$(id -u)" != 0 ] ||
    as_postgres=(setpriv --pdeathsig INT --reuid postgres --regid postgres
        --clear-groups)
postgres=$(echo /usr/lib/postgresql/*/bin)

postgresql_start () {
    stop_with=INT # does not wait for its clients
    mkdir "$data/db"
    [ "$(id -u)" != 0 ] || chown postgres "$data/db"
    (cd "$data" && "${as_postgres[@]}" "${postgres##* }/initdb" -D "$data/db" \
        -A trust -U bench --no-sync >"$data/log") || die 'no database'
    run "$1" "$2" "${as_postgres[@]}" "${postgres##* }/postgres" \
        -D "$data/db" -h 127.0.0.1 -p $((base + $1)) -k '' \
        -c max_connections=200
}

postgresql_mode () {
    ! "${postgres##* }/pg_isready" -q -h 127.0.0.1 -p $((base + $1)) ||
        echo leader
}
