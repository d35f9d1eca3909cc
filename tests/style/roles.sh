#!/bin/bash
#   roles.sh - the table of roles in lockkeeper-protocol(7) is that of the code
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

#   Both as rows: service, command, deed or "-", role.
in_code () {
    sed -n 's/^    {"\(.*\)", "\(.*\)", "\(.*\)", LK_ROLE_\(.*\)},$/\1 \2 \3- \4/p' \
        src/wire/role.c |
        awk '{ if ($3 != "-") sub ("-$", "", $3); print $1, $2, $3, tolower ($4) }'
}

in_page () {
    sed -n '/^\.Ss 7\.5 /,/^\.Sh 8 /s/^\.It \(.*\) Ta \(.*\) Ta \(.*\) Ta \(.*\)$/\1 \2 \3 \4/p' \
        man/lockkeeper-protocol.7
}

verdict 'lockkeeper-protocol(7) 7.5 has the roles of src/wire/role.c' "$(
    if [ -f src/wire/role.c ]; then
        [ -n "$(in_code)" ] || echo 'src/wire/role.c: no rows'
        diff <(in_code) <(in_page)
    fi)"
done_checking
