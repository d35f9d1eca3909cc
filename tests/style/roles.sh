#!/bin/bash
#   roles.sh - the table of roles in lockkeeper-protocol(7) is that of the code
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

#   Both as rows: service, command, deed or "-", role.
in_code () {
    awk -F '"' '/^    {".*, LK_ROLE_[A-Z]*},$/ {
        role = substr ($7, 11)
        sub (/},$/, "", role)
        print $2, $4, $6 == "" ? "-" : $6, tolower (role)
    }' src/wire/role.c
}

in_page () {
    sed -n '/^\.Ss 7\.5 /,/^\.Sh 8 /p' man/lockkeeper-protocol.7 |
        awk '$1 == ".It" && NF == 8 { print $2, $4, $6, $8 }'
}

verdict 'lockkeeper-protocol(7) 7.5 has the roles of src/wire/role.c' "$(
    if [ -f src/wire/role.c ]; then
        [ -n "$(in_code)" ] || echo 'src/wire/role.c: no rows'
        diff <(in_code) <(in_page)
    fi)"
done_checking
