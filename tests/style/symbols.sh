#!/bin/bash
#   symbols.sh - what the libraries show of themselves
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The shared library exports what the public headers declare, all of it and
#   nothing else; every external name in the static one begins with lk_.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

declared=$(sed -n 's/^[a-z].*[ *]\(lk_[a-z0-9_]*\) (.*/\1/p' \
    include/lockkeeper/*.h | sort -u)
library=$BUILD/liblockkeeper.so
if [ ! -e "$library" ]; then
    verdict 'the shared library was built' "no $library"
    done_checking
fi
exported=$(nm -D --defined-only "$library" |
    awk '$2 ~ /[TDBRVW]/ { sub (/@.*/, "", $3); print $3 }' | sort -u)
verdict 'every public function is in the shared library' "$(
    comm -23 <(printf '%s\n' "$declared") <(printf '%s\n' "$exported"))"
verdict 'the shared library shows nothing else' "$(
    comm -13 <(printf '%s\n' "$declared") <(printf '%s\n' "$exported"))"
verdict 'external names begin with lk_' "$(
    nm -A --defined-only -g "$BUILD/liblockkeeper.a" "$BUILD/core.a" \
        2>/dev/null | awk 'NF >= 3 { print $1, $NF }' |
    grep -vE ' (lk_|__(asan|odr_asan|ubsan|gcov))|^$')"
verdict 'what corrupts tables is in no program that is installed' "$(
    grep -ali corrupt "$BUILD"/lockkeeper*
    grep -aqi lockcorrupt "$BUILD/tests/hooks/lockkeeper-lockd" ||
        echo 'and not in that of the tests, either')"
verdict 'the shared library has its name' "$(
    readelf -d "$library" | grep -q 'soname.*liblockkeeper\.so\.1' ||
        echo "$library: no soname liblockkeeper.so.1")"
verdict 'debian/liblockkeeper1.symbols has those of the headers' "$(
    diff <(printf '%s\n' "$declared") \
        <(sed -n 's/^ \(lk_[a-z0-9_]*\)@.*/\1/p' \
            debian/liblockkeeper1.symbols))"
done_checking
