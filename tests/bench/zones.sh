#!/bin/bash
#   zones.sh - what zones, roles and log-ins cost those who have locks
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Two clusters of one host each, one without any zone, and one with a hundred
#   in its settings, where all is done in a zone with limits: zones.without and
#   zones.within, of local sessions and of those on another machine, which take
#   turns; .ratio is the median of the ratios of single rounds, .cpu the time of
#   all daemons of the cluster for a LOCK and its UNLOCK. A process of a zone on
#   its host is of another user than the routers: it takes root.
#   Then locks of the zone beside four log-ins at a time, whose passwords are
#   hashed on that host, and without them, in turn: zones.login.

# shellcheck source=tests/bench/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rounds=$(many 5 1) ms=$(many 600 300)
user=64002
is_root=''
[ "$(id -u)" != 0 ] || is_root=yes
chmod 711 "$work"
cp "$BUILD/tests/bench/zones" "$work/measure"

#   As a user that is not the routers'.
measure () {
    local as=()
    [ -z "$is_root" ] || as=(setpriv --reuid "$user" --regid "$user"
        --clear-groups)
    on_near "${as[@]}" "$work/measure" "$@" || die 'no locks'
}

#   ------------------------------------------------------------ two clusters

#   cluster NAME [OPTION...]: one host in $work/NAME, so that all names have the
#   same home.
cluster () {
    sandbox_name=$1
    shift
    sandbox_start 1 --set 'router/listen-clients=tcp://127.0.0.1:*' \
        --set router/mode=0666 "$@"
    children+=("$sandbox_pid")
    sandbox_pid=''
    chmod 711 "$LOCKKEEPER_SANDBOX" "$LOCKKEEPER_SANDBOX"/h?
}

#   servers FILE: the servers of the cluster that was begun last, into the file
#   of a client, which the measuring user may read.
servers () {
    on h1 "$lockkeeper" clients list |
        awk '$1 == "server" && $2 == "h1" {
            print "    server = \"" $3 " " $4 "\"" }' >>"$1"
    grep -q '^ *server = ' "$1" || die 'there is no server'
    [ -z "$is_root" ] || chown "$user" "$1" "$1".credential 2>/dev/null
}

new_client () {
    "$lockkeeper" client new "$1" 2>/dev/null || die 'no client file'
}

without_zones () {
    local key
    cluster without
    key=$(new_client "$work/client.without") &&
        on h1 "$lockkeeper" clients add bench "$key" >"$work/added" 2>&1 ||
        die 'no client'
    servers "$work/client.without"
}

#   A hundred of them, with limits that nobody comes near to.
settings () {
    local limits='locks=100000 sessions=10000 requests=10000000 bytes=100000000'
    local i
    echo zones
    echo "    zone = \"red $limits authority=corp\""
    for ((i = 1; i < 100; i++)); do
        echo "    zone = \"zone$i $limits\""
        echo "    issuer = \"zone$i $1\""
    done
    echo "    issuer = \"red $1\""
}

within_zone () {
    local issuer key
    mkdir "$work/keys" "$work/authorities"
    issuer=$("$lockkeeper" key new "$work/keys/red.key") || die 'no issuer'
    cluster within --set "local/zone=@$user red operator"
    settings "$issuer" >"$work/settings"
    on h1 "$lockkeeper" settings edit "$work/settings" >"$work/added" 2>&1 ||
        die 'no zones'
    key=$(new_client "$work/client.within")
    "$lockkeeper" credential issue --issuer "$work/keys/red.key" --zone red \
        --user bench --role operator --ttl 24h --key "$key" \
        >"$work/client.within.credential" || die 'no credential'
    servers "$work/client.within"
}

#   ratio NAME OTHER FILE: of the one to the other in one round.
ratio () {
    awk -v name="$1" -v other="$2" '{ value[$2] = $3; unit[$2] = $4 }
        END {
            print "figure", name ".ratio", value[name] / value[other], "x"
        }' "$3"
}

#   All four in turn: name, and way.
ways=(zones.without.local "ipc://$work/without/h1/router"
    zones.within.local "ipc://$work/within/h1/router"
    zones.without.remote "$work/client.without"
    zones.within.remote "$work/client.within")

#   cpu CLUSTER: of all daemons of it, ns.
cpu () {
    local file
    for file in "$work/$1"/h?/*.pid; do
        cat "/proc/$(cat "$file")"/task/*/schedstat
    done | awk '{ ns += $1 } END { printf "%.0f\n", ns }'
}

#   costs NAME WAY: CPU time of all daemons for each pair of LOCK and UNLOCK.
costs () {
    local cluster=${1#zones.} before
    cluster=${cluster%.*}
    before=$(cpu "$cluster")
    measure "$ms" bench/zones "$1" "$2" >"$work/costs"
    awk -v name="$1" -v ns="$(($(cpu "$cluster") - before))" '
        $2 == name ".pairs" {
            print "figure", name ".cpu", ns / 1000 / $3, "us"
        }' "$work/costs"
}

in_turn () {
    local i j side what file=$work/round
    for ((i = 0; i < rounds; i++)); do
        remark "zones, round $((i + 1)) of $rounds"
        measure "$ms" bench/zones "${ways[@]}" | grep -v '\.pairs ' >"$file"
        for ((j = 0; j < 8; j += 2)); do
            costs "${ways[@]:j:2}" >>"$file"
        done
        cat "$file"
        for side in local remote; do
            for what in latency.p50 unlock.p50 ops cpu; do
                ratio "zones.within.$side.$what" "zones.without.$side.$what" \
                    "$file"
            done
        done
    done >"$work/in_turn" || exit 1
    medians <"$work/in_turn"
}

#   ------------------------------------------------------------ log-ins

start_issuer () {
    printf 'authority\n    type = passwords\n    file = %s\n' \
        "$work/passwords" >"$work/authorities/corp.conf"
    echo secret >"$work/password"
    "$lockkeeper" user add ann --zone red --role user --file \
        "$work/passwords" --password-file "$work/password" >"$work/added" 2>&1 ||
        die 'no user'
    "$BUILD/lockkeeper-issuer" --endpoint "ipc://$work/within/h1/router" \
        --keys "$work/keys" --authorities "$work/authorities" \
        >"$work/issuer.log" 2>&1 &
    children+=($!)
    within 20 grep -q 'issues zone=red' "$work/issuer.log" ||
        die 'the issuer does not start'
}

log_in () {
    on_far "$lockkeeper" login --zone red --user ann --client "$1" \
        --password-file "$work/password" >>"$1.told" 2>&1
}

#   Until the file is gone; a log-in that fails is none.
log_in_on () {
    while [ -e "$work/goes-on" ]; do
        log_in "$1" && echo 1 >>"$1.done"
    done
}

log_ins () {
    local i file=$work/login going count way=ipc://$work/within/h1/router
    for i in 1 2 3 4; do
        new_client "$work/login.$i" >"$work/added"
        grep '^ *server = ' "$work/client.within" >>"$work/login.$i"
    done
    for ((i = 0; i < $(many 4 1); i++)); do
        measure "$ms" bench/zones zones.login.none "$way" >"$file"
        going=()
        : >"$work/goes-on"
        for count in 1 2 3 4; do
            log_in_on "$work/login.$count" &
            going+=($!)
        done
        sleep 0.3
        measure "$ms" bench/zones zones.login.four "$way" >>"$file"
        rm "$work/goes-on"
        wait "${going[@]}"
        cat "$file"
        ratio zones.login.four.latency.p50 zones.login.none.latency.p50 "$file"
        ratio zones.login.four.latency.p99 zones.login.none.latency.p99 "$file"
    done | grep -v '\.pairs ' >"$work/log_ins"
    medians <"$work/log_ins"
    figure zones.login.done "$(cat "$work"/login.*.done | wc -l)" log-ins
}

without_zones
within_zone
in_turn
start_issuer
log_ins
