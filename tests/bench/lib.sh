# shellcheck shell=bash
#   lib.sh - what the parts of the benchmark share
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced. A part is a script of this folder that run.sh starts. On stdout
#   it prints lines of figures and nothing else:
#
#       figure NAME VALUE UNIT
#
#   NAME is lower case and dotted. What begins with chain. is the bare bus's,
#   with peer.WHO. another lock service's, and all else lockkeeper's; table.sh
#   joins them. Remarks go to stderr.
#
#   A part has $BENCH_SECONDS for all that it does and is ended after that.
#   If $BENCH_TINY is set it only shows that it works: the least counts that
#   give every figure, in a few seconds. What it starts it ends by number;
#   files lie in $work, which is removed in the end.

set -u
export LC_ALL=C
BUILD=${BUILD:-$PWD/build}
export BUILD
lockkeeper=$BUILD/lockkeeper
began=$SECONDS
sandbox_name=sandbox sandbox_pid='' sandbox_hosts=0 near=h1
work=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 2

remark () {
    echo "bench: $*" >&2
}

die () {
    remark "$*"
    exit 1
}

figure () {
    case $2 in
        '' | *[!0-9.e+-]*) die "figure '$1' has the value '$2'" ;;
    esac
    echo "figure $1 $2 $3"
}

#   many N TINY: so many, or so many if it is only to be seen that it works.
many () {
    [ -z "${BENCH_TINY:-}" ] && echo "$1" || echo "$2"
}

#   What is left of the part's seconds.
seconds_left () {
    echo $((${BENCH_SECONDS:-100000} - (SECONDS - began)))
}

#   ------------------------------------------------------------ statistics

#   quantile P: of the numbers on stdin, one a line; P from 0 to 1.
quantile () {
    sort -g | awk -v p="$1" '
        { value[NR] = $1 }
        END {
            if (NR == 0) { exit 1 }
            place = 1 + p * (NR - 1); low = int (place)
            high = low < NR ? low + 1 : low
            printf "%.6g\n",
                value[low] + (place - low) * (value[high] - value[low])
        }'
}

median () {
    quantile 0.5
}

#   medians: of lines "figure NAME VALUE UNIT" one for each NAME, with the
#   median of its values, in the order in which they came first.
medians () {
    local name unit file=$work/medians.$BASHPID
    grep '^figure ' >"$file"
    awk '!seen[$2]++ { print $2, $4 }' "$file" | while read -r name unit; do
        figure "$name" "$(awk -v n="$name" '$2 == n { print $3 }' "$file" |
            median)" "$unit"
    done
    rm -f "$file"
}

#   What a figure is compared with on the bare bus, for awk: base (name) is
#   empty if there is nothing.
base='function base (name) {
    if (name !~ /^lock\./) { return "" }
    if (match (name, /(latency|unlock)\.p[0-9]+$/)) {
        sub (/.*\./, "", name)
        return "chain.latency." name
    }
    if (match (name, /inflight[0-9]+\.ops$/)) {
        return "chain.five." substr (name, RSTART)
    }
    return name ~ /(handover|drain)[0-9]+\.rate$/ ? "chain.inflight1.ops" : ""
}'

#   ratios FILE...: figures NAME.ratio of all that the bare bus has, too: the
#   medians of the ratios in each round's FILE.
ratios () {
    local file
    for file in "$@"; do
        awk "$base"'
            $1 == "figure" { value[$2] = $3; order[++count] = $2 }
            END {
                for (i = 1; i <= count; i++) {
                    name = order[i]; other = base(name)
                    if (other in value && value[other] > 0) {
                        print "figure", name ".ratio",
                            value[name] / value[other], "x"
                    }
                }
            }' "$file"
    done | medians
}

#   ------------------------------------------------------------ cores

#   The client and the host that it is on share one core, all other hosts the
#   other. Everybody's servers are pinned so: who leads or is asked is near.
#   There two followers take turns, which hosts of their own do not: figures
#   named apart are of followers that do not share a core. The last one is near
#   then; who is alone is far.
near_core=0 far_core=1
[ "$(nproc)" -gt 1 ] || far_core=0

on_near () {
    taskset -c "$near_core" "$@"
}

on_far () {
    taskset -c "$far_core" "$@"
}

#   pin CORE PID...: all threads of these, one of which may just end.
pin () {
    local core=$1 pid tries
    shift
    for pid in "$@"; do
        tries=5
        until taskset -acp "$core" "$pid" >/dev/null; do
            [ $((--tries)) != 0 ] || die "cannot pin $pid"
        done
    done
}

#   ------------------------------------------------------------ the sandbox

#   pid_of HOST router|lockd
pid_of () {
    cat "$LOCKKEEPER_SANDBOX/$1/$2.pid"
}

#   on HOST COMMAND...: with that host's router in the environment.
on () {
    local endpoint=ipc://$LOCKKEEPER_SANDBOX/$1/router
    shift
    LOCKKEEPER_ENDPOINT=$endpoint "$@"
}

#   pin_hosts [HOST...]: the client will be on the first one, h1 by default;
#   all of these are near. After `lockkeeper sandbox restart`, too.
pin_hosts () {
    local i file core
    near=${*:-$near}
    for ((i = 1; i <= sandbox_hosts; i++)); do
        core=$far_core
        case " $near " in *" h$i "*) core=$near_core ;; esac
        for file in "$LOCKKEEPER_SANDBOX/h$i"/*.pid; do
            pin "$core" "$(cat "$file")"
        done
    done
}

#   home_of NAME: the host that is its home now.
home_of () {
    on h1 "$lockkeeper" status --object "$1" |
        awk '$1 == "home" { print $2 }'
}

#   name_at HOST PREFIX: a name that begins so and has its home there.
name_at () {
    local i
    for ((i = 1; i <= 100; i++)); do
        if [ "$(home_of "$2$i")" = "$1" ]; then
            echo "$2$i"
            return
        fi
    done
    die "no name has its home at $1"
}

#   leaders_are N: every host is ready and knows of that many leaders.
leaders_are () {
    local i
    for ((i = 1; i <= sandbox_hosts; i++)); do
        on "h$i" "$lockkeeper" status >"$work/status" 2>&1 || return 1
        awk -v n="$1" '$1 == "leaders" { count = NF - 1 }
            END { exit count != n }' "$work/status" || return 1
    done
}

#   within SECONDS COMMAND...: until the command succeeds.
within () {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

sandbox_is_up () {
    [ -s "$work/hosts" ] && grep -q Ctrl-C "$work/hosts" ||
        ! kill -0 "$sandbox_pid" 2>/dev/null
}

#   sandbox_start N [OPTION...]: N hosts, with all leaders that there can be,
#   at most 3, and pinned; sets $LOCKKEEPER_SANDBOX. One at a time; a part that
#   has a second one gives it another name, and its process to children.
sandbox_start () {
    local leaders=3
    sandbox_hosts=$1
    shift
    [ "$sandbox_hosts" -ge 3 ] || leaders=1
    : >"$work/hosts"
    export LOCKKEEPER_SANDBOX=$work/$sandbox_name
    setpriv --pdeathsig TERM "$lockkeeper" sandbox --hosts "$sandbox_hosts" \
        --dir "$LOCKKEEPER_SANDBOX" "$@" >"$work/hosts" &
    sandbox_pid=$!
    within 25 sandbox_is_up && grep -q Ctrl-C "$work/hosts" ||
        die 'the sandbox does not start'
    within 25 leaders_are "$leaders" || die "not $leaders leaders"
    pin_hosts h1
}

sandbox_stop () {
    [ -n "$sandbox_pid" ] || return 0
    kill -INT "$sandbox_pid" 2>/dev/null
    wait "$sandbox_pid"
    sandbox_pid=''
    rm -rf "${work:?}/$sandbox_name"
}

#   What else a part started: it appends the numbers.
children=()

clean_up () {
    local pid
    trap '' INT TERM HUP
    for pid in "${children[@]}"; do
        kill -9 "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    sandbox_stop
    rm -rf "$work"
}

trap clean_up EXIT
trap 'exit 130' INT TERM HUP
