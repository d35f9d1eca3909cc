#   style.sh - what the style checks share
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A check is a script that looks at the tree below STYLE_ROOT and prints
#   TAP: complaints as "# file:line: what", then the verdict on its rule.
#   Sourced by tests/style/*.sh.

set -u
cd "${STYLE_ROOT:-$(dirname "$0")/../..}" || exit 2
BUILD=${BUILD:-$PWD/build}
CC=${CC:-gcc}
export LC_ALL=C
cases=0 bad=0

#   verdict RULE COMPLAINTS
verdict () {
    cases=$((cases + 1))
    if [ -z "$2" ]; then
        echo "ok $cases - $1"
    else
        printf '%s\n' "$2" | sed 's/^/# /'
        echo "not ok $cases - $1"
        bad=$((bad + 1))
    fi
}

skip () {
    cases=$((cases + 1))
    echo "ok $cases - $1 # SKIP $2"
}

done_checking () {
    echo "1..$cases"
    [ "$bad" = 0 ]
    exit
}

#   Files of the project below the given folders, by the ends of their names.
#   c_files, sh_files: what is ours to look at.
files_of () {
    local folder=$1
    shift
    [ -d "$folder" ] || return 0
    find "$folder" -path '*/.*' -prune -o -type f \( "$@" \) -print | sort
}

c_files () {
    local folder
    for folder in include src router plugins arbiter tests examples; do
        files_of "$folder" -name '*.[ch]'
    done
}

sh_files () {
    local folder
    find . -maxdepth 1 -name '*.sh' | sed 's/^\.\///'
    [ ! -f .ci/run ] || echo .ci/run
    files_of completions -name '*.bash'
    for folder in tests examples plugins; do
        files_of "$folder" -name '*.sh'
    done
}
