#!/bin/bash
#   layers.sh - who may include whom
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   util <- wire <- net <- settings <- { client, cli, router, lock, issuer };
#   the arbiter stands above router and lock;
#   the lock service's core sees util and the plain structs only; other
#   services see include/lockkeeper only. libldap is the issuer's, jansson lives
#   in src/wire, uthash behind util/map.h; its lists (utlist.h) are everybody's;
#   libzmq and CZMQ live in src/net, in the files named below; of the router one
#   file has libsodium.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

third_party='<(czmq|zmq|z[a-z]+|jansson|libsmartcols|ldap|lber|uthash|utarray|utstring|utringbuffer)\.h>'
standard='<(stdbool|stddef|stdint|stdio|stdlib|stdarg|string|inttypes|limits|errno)\.h>'
local_header='"[a-z0-9_]+\.h"'

#   layer NAME ALLOWED FORBIDDEN FILES...: each include must match ALLOWED
#   (extended regular expression) and must not match FORBIDDEN.
layer () {
    local name=$1 allowed=$2 forbidden=$3
    shift 3
    [ $# -gt 0 ] || return 0
    verdict "$name includes only what is below it" "$(
        allowed=$allowed forbidden=$forbidden awk '
            BEGIN {
                yes = "^(" ENVIRON["allowed"] ")$"
                no = ENVIRON["forbidden"]
            }
            /^[ \t]*#[ \t]*include/ {
                header = $0
                sub (/^[^"<]*/, "", header)
                sub (/[">][^">]*$/, substr (header, 1, 1) == "<" ? ">" : "\"",
                    header)
                if (header !~ yes || (no != "" && header ~ "^(" no ")$")) {
                    print FILENAME ":" FNR ":" $0 ": not for this layer"
                }
            }' "$@")"
}

#   The files directly in a folder.
in_folder () {
    [ -d "$1" ] || return 0
    find "$1" -maxdepth 1 -name '*.[ch]' | sort
}

#   Every system header but those of the libraries named.
system='<[a-z0-9_/]+\.h>'
public='<lockkeeper/[a-z]+\.h>'

mapfile -t files < <(in_folder include/lockkeeper)
layer include "$public|<std(bool|def|int)\\.h>" '' "${files[@]}"

mapfile -t files < <(in_folder src/util | grep -v '/map\.h$')
layer src/util "\"util/[a-z0-9_]+\\.h\"|<lockkeeper/error\\.h>|$system" \
    "$third_party|<sys/socket\\.h>" "${files[@]}"
mapfile -t files < <(in_folder src/util | grep '/map\.h$')
layer src/util/map.h '"util/[a-z0-9_]+\.h"|<uthash\.h>' '' "${files[@]}"

mapfile -t files < <(in_folder src/wire)
layer src/wire "\"(util|wire)/[a-z0-9_]+\\.h\"|$public|<jansson\\.h>|$system" \
    '<(czmq|zmq|uthash|poll|sys/.*|time|unistd)\.h>' "${files[@]}"
mapfile -t files < <(in_folder src/wire | grep -E '/lock_(message|state)\.h$')
layer 'the plain structs' "\"(util|wire)/[a-z0-9_]+\\.h\"|<lockkeeper/mode\\.h>|$standard" \
    '"wire/(message|frame|lock_codec)\.h"' "${files[@]}"

#   The sockets of the bus: their headers show neither library but to src/net.
sockets='/(part|zpart|zprocess|zsocket|monitor|dealer|listener|curve|zap|beacon)\.[ch]$'
mapfile -t files < <(in_folder src/net | grep -vE "$sockets")
layer src/net \
    "\"(util|wire|net)/[a-z0-9_]+\\.h\"|$public|$system" \
    "$third_party|\"net/(zpart|zsocket|monitor)\\.h\"" "${files[@]}"
mapfile -t files < <(in_folder src/net | grep -E "$sockets")
layer "src/net's sockets" \
    "\"(util|wire|net)/[a-z0-9_]+\\.h\"|$public|$system|<c?zmq\\.h>" \
    '<jansson\.h>' "${files[@]}"

mapfile -t files < <(in_folder src/daemon)
layer src/daemon "$local_header|$system" "$third_party" "${files[@]}"

mapfile -t files < <(in_folder src/settings)
layer src/settings \
    "\"(util|wire|net|settings)/[a-z0-9_]+\\.h\"|$public|$system" \
    "$third_party" "${files[@]}"

mapfile -t files < <(in_folder src/people)
layer src/people \
    "\"(util|wire|net|settings|people)/[a-z0-9_]+\\.h\"|$public|$system" \
    "$third_party" "${files[@]}"

mapfile -t files < <(in_folder src/client)
layer src/client \
    "\"(util|wire|net|settings|client)/[a-z0-9_]+\\.h\"|$public|$system" \
    "$third_party" "${files[@]}"

#   A room of the command line sees what all share, and itself; a sandbox
#   makes a first state, too. One file draws tables.
for room in '' run lock see setup sandbox; do
    own="cli/([a-z_]+|${room:-none}/[a-z_]+)"
    [ "$room" != sandbox ] || own="($own|cli/setup/genesis)"
    mapfile -t files < <(in_folder "src/cli${room:+/$room}" |
        grep -v '^src/cli/columns\.c$')
    layer "src/cli${room:+/$room}" \
        "\"((util|wire|net|settings|people)/[a-z0-9_]+|$own)\\.h\"|$public|$system" \
        "$third_party" "${files[@]}"
done

mapfile -t files < <(in_folder src/cli | grep '/columns\.c$')
layer src/cli/columns.c "\"(util|cli)/[a-z0-9_]+\\.h\"|$system" \
    "${third_party/|libsmartcols/}" "${files[@]}"

#   rooms FOLDER BELOW...: a header without a folder is of one of these.
rooms () {
    verdict "$1 includes of its house only what is below it" "$(
        in_folder "$1" | xargs grep -noE '^#include "[a-z0-9_]+\.h"' /dev/null |
            while IFS=: read -r file line include; do
                header=${include#*\"}
                for folder in "$@"; do
                    [ ! -f "$folder/${header%\"}" ] || continue 2
                done
                echo "$file:$line: $include: not for this room"
            done)"
}

rooms router/tables
rooms router/logic router/tables
rooms router/shell router/logic router/tables
for room in tables logic shell; do
    mapfile -t files < <(in_folder router/$room | grep -v '/sealed\.c$')
    layer router/$room "\"(util|wire|net|settings|people|daemon)/[a-z0-9_]+\\.h\"|$local_header|$public|$system" \
        "$third_party|<sodium\\.h>" "${files[@]}"
done
mapfile -t files < <(in_folder router/tables | grep '/sealed\.c$')
layer router/tables/sealed.c "\"(util|wire|net)/[a-z0-9_]+\\.h\"|$local_header|$public|$system" \
    "$third_party" "${files[@]}"

#   The arbiter has a router and a lock service in it, and sees their faces.
mapfile -t files < <(in_folder arbiter)
layer arbiter \
    "\"(util|wire|net|settings|daemon)/[a-z0-9_]+\\.h\"|$local_header|$public|$system" \
    "$third_party" "${files[@]}"
rooms arbiter router/tables router/logic router/shell plugins/lock

#   The lock service: its rooms see the core by its face.
lock=plugins/lock
core=$lock/core
face="$core/base $core/node"
# shellcheck disable=SC2086
{
    rooms $lock/keep $face
    rooms $lock/out $lock/keep $face
    rooms $lock/look $lock/{out,keep} $face
    rooms $lock/in $lock/{look,out,keep} $face
    rooms $lock $lock/{in,look,out,keep} $face
}
for room in '' keep out look in; do
    mapfile -t files < <(in_folder "$lock${room:+/$room}")
    layer "$lock${room:+/$room}" \
        "\"(util|wire|net|settings|daemon)/[a-z0-9_]+\\.h\"|$local_header|$public|$system" \
        "$third_party" "${files[@]}"
done

#   Its core is stepped by shell.c alone.
verdict 'shell.c alone steps the core' "$(
    for room in "" keep/ out/ look/ in/; do
        grep -nw 'lk_node_step' /dev/null "$lock/$room"*.[ch] |
            grep -v "^$lock/shell.c:"
    done)"

#   The core: a room sees those below it by their faces, not their inside.
rooms $core/base
rooms $core/table $core/base
rooms $core/leader $core/table $core/base
rooms $core/proxy $core/leader $core/table $core/base
rooms $core/election $core/leader $core/table $core/base
rooms $core/node $core/{election,proxy,leader,table,base}
for room in base table leader proxy election node; do
    mapfile -t files < <(in_folder $core/$room)
    others=$(printf '"%s_private\\.h"|' leader proxy election node |
        sed "s/\"${room}_private[^|]*|//")
    [ $room != node ] || others=
    layer $core/$room \
        "\"util/[a-z0-9_]+\\.h\"|\"wire/lock_(message|record|state)\\.h\"|$local_header|<lockkeeper/(error|mode)\\.h>|<utlist\\.h>|$standard" \
        "$others<errno\\.h>" "${files[@]}"
done

#   Tests see of a room its functions and its view. One file of theirs writes
#   into rooms. A header that shows an inside is as the inside.
inside='[a-z_]+_private'
while more=$(grep -hlE "^#include \"($inside)\.h\"" $core/*/*.h |
    sed 's:.*/::; s:\.h$::' | grep -vxE "$inside" | paste -sd '|') &&
    [ -n "$more" ]; do
    inside+="|$more"
done
verdict 'plant.c alone of the tests sees the inside of rooms' "$(
    grep -rnE "^#include \"($inside)\.h\"" --include='*.[ch]' tests |
        while IFS=: read -r file line include; do
            header=${include#*\"}
            [ "$file" = tests/lib/plant.c ] ||
                [ -f "${file%/*}/${header%\"}" ] ||
                echo "$file:$line: $include: not for tests"
        done)"

verdict 'views of rooms are for tests' "$(
    grep -rnE '^#include "[a-z]+_view\.h"' --include='*.[ch]' \
        src router plugins arbiter 2>/dev/null | grep -vE '^[^:]*_view\.[ch]:')"

#   What tests know of the core's rule does not come from the core.
mapfile -t files < <(in_folder tests/lib | grep '/grant_model\.[ch]$')
layer 'the model of the grant rule' \
    '"lib/grant_model\.h"|"util/assert\.h"|"wire/lock_message\.h"|<string\.h>' \
    '' "${files[@]}"

#   The issuer: two files of it ask libldap.
mapfile -t files < <(in_folder plugins/issuer | grep -v '/\(ask_ldap\|authority\)\.c$')
layer plugins/issuer \
    "\"(util|wire|net|settings|people)/[a-z0-9_]+\\.h\"|$local_header|$public|$system" \
    "$third_party|<sys/socket\\.h>" "${files[@]}"
mapfile -t files < <(in_folder plugins/issuer | grep '/\(ask_ldap\|authority\)\.c$')
layer "plugins/issuer's LDAP" \
    "\"(util|wire|net|settings|people)/[a-z0-9_]+\\.h\"|$local_header|$public|$system" \
    "${third_party/|ldap|lber/}|<sys/socket\\.h>" "${files[@]}"

for folder in plugins/*/ examples/; do
    case $folder in
    plugins/lock/ | plugins/issuer/) continue ;;
    esac
    mapfile -t files < <(in_folder "$folder")
    layer "${folder%/}" "$local_header|$public|$system" \
        "$third_party|<sys/socket\\.h>" "${files[@]}"
done
done_checking
