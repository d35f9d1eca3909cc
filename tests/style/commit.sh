#!/bin/bash
#   commit.sh - what commits say of themselves
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Looks at the commits of this branch that origin/main has not, or, without
#   one, at the last commit; or at those of RANGE. A tree that is no repository
#   has none.

# shellcheck source=tests/lib/style.sh
. "${LIB_DIR:-$(dirname "$0")/../lib}/style.sh"

subject_max=72
body_max=76
lines_max=10        # that may change without a word of why
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

#   A tree that was unpacked below somebody's repository is not that one.
has_history () {
    [ -e .git ] && git rev-parse -q --verify HEAD^0 >/dev/null 2>&1
}

#   Merges have words of their own.
commits () {
    if [ -n "${RANGE:-}" ]; then
        git rev-list --no-merges "$RANGE"
    elif git rev-parse -q --verify origin/main >/dev/null; then
        git rev-list --no-merges origin/main..HEAD
    else
        git rev-list --no-merges --max-count=1 HEAD^!
    fi
}

#   changed COMMIT: lines that it adds or takes away.
changed () {
    git diff-tree -r --root --no-commit-id --numstat "$1" |
        awk '{ n += $1 + $2 } END { print n + 0 }'
}

#   look_at COMMIT: complaints about its message.
look_at () {
    git log -1 --format=%B "$1" | awk -v commit="${1:0:10}" \
        -v changed="$(changed "$1")" -v lines_max=$lines_max \
        -v subject_max=$subject_max -v body_max=$body_max '
        function complain (what) { print commit ": " what }
        function width (line) {
            gsub (/[\200-\277]/, "", line)
            return length (line)
        }
        NR == 1 {
            if (width($0) > subject_max) {
                complain("subject of " width($0) " characters, at most " \
                    subject_max)
            }
            if (/\.$/) { complain("a full stop behind the subject") }
            if (/^$/) { complain("no subject") }
            if (/;/) { complain("a subject of two topics: " $0) }
            if (tolower($0) ~ /^(wip|fixup!|squash!|amend!)/) {
                complain("not done yet: " $0)
            }
        }
        NR == 2 && /./ { complain("no blank line behind the subject") }
        NR > 2 && /./ && !/^[A-Z][A-Za-z-]+-by: / { body++ }
        NR > 2 && width($0) > body_max && !/:\/\// {
            complain("line " NR " of " width($0) " characters, at most " \
                body_max)
        }
        END {
            if (changed > lines_max && !body) {
                complain(changed " lines change, and no body says why")
            }
        }'
}

if has_history; then
    verdict 'commits: subject, blank line, body, one topic' "$(
        commits | while read -r commit; do
            look_at "$commit"
        done)"
else
    verdict 'commits: there are none here' ''
fi
done_checking
