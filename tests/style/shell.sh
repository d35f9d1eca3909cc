#!/bin/bash
#   shell.sh - our scripts parse, and shellcheck likes them where it is
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

mapfile -t scripts < <(sh_files)
of_sh=() of_bash=()
for script in "${scripts[@]}"; do
    if head -n 1 "$script" | grep -q 'bin/sh'; then
        of_sh+=("$script")
    else
        of_bash+=("$script")
    fi
done
verdict 'scripts parse' "$(
    for script in "${of_sh[@]}"; do
        sh -n "$script" 2>&1
    done
    for script in "${of_bash[@]}"; do
        bash -n "$script" 2>&1
    done)"
#   The runner takes a script that is not to be executed for one that others
#   source.
verdict 'tests of a cluster can be executed' "$(
    for script in "${scripts[@]}"; do
        case $script in
            tests/cluster/*) ;;
            *) continue ;;
        esac
        if head -n 1 "$script" | grep -q '^#!' && [ ! -x "$script" ]; then
            echo "$script:1: begins with #!, and is not executable"
        fi
    done)"
#   Most scripts source a few long ones, and set names for them. shellcheck
#   would read those again with each script, which takes five times as long: it
#   gets copies, that use these names in a last line. Many files at a time take
#   longer, too.
copy=$(mktemp -d "${TMPDIR:-/tmp}/shell.XXXXXX") || exit 2
trap 'rm -rf "$copy"' EXIT

#   sourced FILE...: what they source, and what that does.
sourced () {
    local files
    mapfile -t files < <(sed -n 's/^ *# shellcheck source=//p' "$@" |
        grep -vx /dev/null)
    [ ${#files[@]} = 0 ] || {
        printf '%s\n' "${files[@]}"
        sourced "${files[@]}"
    }
}
#   names_for_others FILE: that it sets, and that occur in what it sources.
names_for_others () {
    local files
    mapfile -t files < <(sourced "$1")
    comm -12 <(grep -oE '\b[A-Za-z_][A-Za-z_0-9]*(\[[^]]*\])?\+?=' "$1" |
        sed 's/[[+=].*//' | sort -u) <(cat /dev/null "${files[@]}" | sed 's/#.*//' |
        grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u)
}
checked () {
    local shell=$1 script
    shift
    for script in "$@"; do
        cp --parents -t "$copy" -- "$script"
        [ "$shell" = sh ] || names_for_others "$script" |
            sed 's/.*/: "${&[*]}"/' >>"$copy/$script"
    done
    (cd "$copy" && printf '%s\0' "$@" | xargs -r -0 -n 1 \
        shellcheck -s "$shell" -S warning -e SC2154 -f gcc)
}
if command -v shellcheck >/dev/null; then
    verdict 'shellcheck has no complaint' "$(
        checked sh "${of_sh[@]}"
        checked bash "${of_bash[@]}")"
else
    skip 'shellcheck has no complaint' 'not installed'
fi
done_checking
