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
if command -v shellcheck >/dev/null; then
    verdict 'shellcheck has no complaint' "$(
        checked () {
            [ $# = 1 ] || shellcheck -x -s "$1" -S warning -e SC2154 -f gcc \
                "${@:2}"
        }
        checked sh "${of_sh[@]}"
        checked bash "${of_bash[@]}")"
else
    skip 'shellcheck has no complaint' 'not installed'
fi
done_checking
