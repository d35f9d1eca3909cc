#!/bin/bash
#   python.sh - Python files: heads, columns, unused names, types
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

mapfile -t module < <(files_of python -name '*.py')
mapfile -t all < <(printf '%s\n' "${module[@]}"
    files_of examples -name '*.py'
    files_of tests/python -name '*.py'
    files_of tests/clients -name '*.py')

verdict 'the module is there' "$(
    [ ${#module[@]} -gt 5 ] || echo 'python/lockkeeper: no files')"
verdict 'each Python file says in its head what it is' "$(
    for file in "${all[@]}"; do
        head -n 2 "$file" | grep -qF "#   ${file##*/} - " ||
            echo "$file:1: does not begin with '#   ${file##*/} - ...'"
        grep -qF 'SPDX-License-Identifier: MPL-2.0' "$file" ||
            echo "$file:1: no SPDX line"
    done)"
verdict 'Python: 79 columns, no tabs, 800 lines' "$(
    awk 'length ($0) > 79 { print FILENAME ":" FNR ": too long" }
        /\t|[ \t]$/ { print FILENAME ":" FNR ": white space" }
        FNR == 801 { print FILENAME ":801: over 800 lines" }' \
        /dev/null "${all[@]}")"

#   The interpreter that has pyzmq is Debian's, and so are its tools.
if command -v pyflakes3 >/dev/null; then
    verdict 'pyflakes has no complaint' "$(pyflakes3 "${all[@]}" 2>&1)"
else
    skip 'pyflakes has no complaint' 'not installed'
fi
if command -v mypy >/dev/null && /usr/bin/python3 -c 'import zmq' 2>&-; then
    cache=$(mktemp -d "${TMPDIR:-/tmp}/mypy.XXXXXX") || exit 2
    trap 'rm -rf "$cache"' EXIT
    verdict 'mypy --strict has no complaint' "$(
        mypy --strict --no-error-summary --cache-dir "$cache" \
            --python-executable /usr/bin/python3 python/lockkeeper 2>&1)"
else
    skip 'mypy --strict has no complaint' 'not installed'
fi
done_checking
