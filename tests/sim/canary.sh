#   canary.sh - makes a mistake, and sees it noticed; for canaries.sh
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck shell=sh

build=${BUILD:-build}
compiler=${CC:-cc}
jobs=$(nproc 2>/dev/null || echo 2)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/canaries.XXXXXX") || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
seeds_max=${SEEDS_MAX:-400}
try_s=${TRY_S:-1200}    # of a machine that is busy
parts=${PARTS:-1}
part=$(awk -v parts="$parts" 'BEGIN { srand (); print int (rand () * parts) }')
number=0
failed=0
waiting=
seen=0     # canaries, of which these
lost=      # ... have no place any more
wanted=" $* "
core_rooms=$(printf -- '-I%s ' plugins/lock/core/*/)

#   A file of the core by its name, or with its room if others have that name;
#   of anything else the whole path.
find_file () {
    if [ -f "$1" ]; then
        echo "$1"
    elif [ "$1" != "${1#*/}" ]; then
        echo "plugins/lock/core/$1"
    else
        echo plugins/lock/core/*/"$1"
    fi
}

#   All objects of the simulator, the changed ones in place of their own.
link_with () {    # folder, changed objects
    objects=
    for object in $(cat "$build/tests/sim/objects"); do
        for changed in $2; do
            [ "$object" = "${object%"/$changed"}" ] || object=$1/$changed
        done
        objects="$objects $object"
    done
    # shellcheck disable=SC2086
    $compiler -o "$1/sim" $objects -ljansson -lm
}

#   A unit test takes the changed objects ahead of those in the archives.
link_unit () {    # folder, changed objects, test
    objects=$build/$3.o wraps=
    for changed in $2; do
        objects="$objects $1/$changed"
    done
    for function in $(grep -o '__wrap_[a-z_0-9]*' "$3.c" | sort -u); do
        wraps="$wraps -Wl,--wrap=${function#__wrap_}"
    done
    case $3 in
    */core_* | */kinds_*) wraps="$wraps -Wl,--wrap=lk_node_step" ;;
    esac
    # shellcheck disable=SC2046,SC2086
    $compiler -o "$1/unit" $objects $wraps -Wl,--start-group "$build/test.a" \
        "$build/lock.a" "$build/core.a" "$build/router.a" "$build/daemon.a" \
        "$build/people.a" \
        "$build/liblockkeeper.a" -Wl,--end-group \
        $(pkg-config --libs check jansson libczmq libzmq libsodium lmdb) \
        $(pkg-config --libs libsystemd 2>/dev/null) -lm
}

#   Says what the unit test found, in one line.
run_unit () {    # folder
    timeout "$try_s" "$1/unit" >"$1/out" 2>&1 && return
    sed -n 's/^[^:]*:[0-9]*:[EF]:[^:]*:\([^:]*\):.*/\1/p' "$1/out" | head -n 1
}

#   Says what came of it in the file `result`: ok or not ok, seeds, words.
try () {    # name, most seeds, storm or script, file and sed expression, ...
    folder=$scratch/$1
    most=$2 where=$3 changes=
    shift 3
    while [ $# -gt 0 ]; do
        source=$(find_file "$1")
        mkdir -p "$folder/${source%/*}"
        sed -z "$2" "$source" >"$folder/$source"
        if cmp -s "$folder/$source" "$source"; then
            echo "not_ok - $1 has no place for this mistake any more"
            return
        fi
        $compiler -std=gnu11 -D_GNU_SOURCE -O1 -w -DLK_VERSION='"0"' \
            -Isrc -Iinclude -I"${source%/*}" -Irouter/tables -Irouter/logic \
            -Iplugins/lock -Iplugins/lock/keep -Iplugins/lock/out \
            -Iplugins/lock/look -Iplugins/lock/in $core_rooms -c \
            -o "$folder/${source%.c}.o" "$folder/$source" || {
            echo 'not_ok - does not compile'
            return
        }
        changes="$changes ${source%.c}.o"
        shift 2
    done
    if [ "$where" != "${where#unit/}" ]; then
        link_unit "$folder" "$changes" "tests/$where" || {
            echo 'not_ok - does not link'
            return
        }
        words=$(run_unit "$folder")
        echo "${words:+ok -} ${words:-not_ok - not noticed in $where}"
        return
    fi
    link_with "$folder" "$changes" || {
        echo 'not_ok - does not link'
        return
    }
    options="--runs $most --no-shrink"
    case $where in
    storm) ;;
    remotes) options="$options --remotes 4" ;;
    *) options="$options --script $where" ;;
    esac
    # shellcheck disable=SC2086
    timeout "$try_s" "$folder/sim" $options >"$folder/out" 2>&1
    case $? in
    0)
        echo "not_ok - not noticed in $most seeds ($where)"
        return
        ;;
    124)
        echo "not_ok - took more than $try_s s, or does not end"
        return
        ;;
    esac
    words=$(sed -n 's/^seed [0-9]*: .* ms: //p' "$folder/out" | head -n 1)
    if [ -z "$words" ]; then
        echo 'not_ok - ended, and said nothing'
        return
    fi
    seeds=$(sed -n 's/.*--seed \([0-9]*\).*/\1/p' "$folder/out" | head -n 1)
    echo "ok $seeds $words"
}

#   Results of those that are under way, in their order.
gather () {
    wait
    for name in $waiting; do
        number=$((number + 1))
        read -r verdict seeds words <"$scratch/$name/result"
        [ "$verdict" = ok ] || failed=$((failed + 1))
        [ "$verdict" = ok ] || verdict='not ok'
        echo "$verdict $number - $name: $words"
        read -r file where <"$scratch/$name/about"
        printf '%-34s %-14s %-22s %6s  %s\n' "$name" "${file##*/}" "$where" \
            "$seeds" "$words" >>"$scratch/table"
        rm -rf "${scratch:?}/$name"
    done
    waiting=
}

#   Of one that is not tried now.
has_place () {    # name, most seeds, storm or script, file, sed expression, ...
    name=$1
    shift 3
    while [ $# -gt 0 ]; do
        source=$(find_file "$1")
        ! sed -z "$2" "$source" | cmp -s - "$source" || lost="$lost $name"
        shift 2
    done
}

canary () {    # name, most seeds, storm or script, file, sed expression, ...
    echo "$1 $4" >>"$scratch/names"
    case $wanted in
    "  ")
        seen=$((seen + 1))
        if { { [ "$3" = storm ] || [ "$3" = remotes ]; } && [ "$2" -gt "$seeds_max" ]; } ||
            [ $((seen % parts)) -ne "$part" ]; then
            has_place "$@"
            return
        fi
        ;;
    *" $1 "*) ;;
    *) return ;;
    esac
    mkdir "$scratch/$1"
    echo "$4 $3" >"$scratch/$1/about"
    try "$@" >"$scratch/$1/result" 2>"$scratch/$1/error" &
    waiting="$waiting $1"
    set -- $waiting
    [ $# -lt "$jobs" ] || gather
}
