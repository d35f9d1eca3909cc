# shellcheck shell=bash
#   page_tap.sh - the commands of lockkeeper-tutorial(7), and what comes back
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced behind cli_tap.sh, by who has a function `typed COMMAND`: it does
#   it and leaves in $got all that came back; for a block behind a comment
#   "on HOST" that is in $host.
# shellcheck disable=SC2034

page=${TUTORIAL:-$root/man/lockkeeper-tutorial.7}
got='' host=''

#   steps: of the page, as lines "file NAME", "F text", "C command" (one that
#   goes on: "> text") and "E what comes back"; "section NAME" and "host
#   NAME" ahead.
steps () {
    awk '
        /^\.S[hs] / { print "section " substr ($0, 5); next }
        /^\.\\" file / { print "file " $3; file = 1; next }
        /^\.\\" on / { print "host " $3; next }
        /^\.Bd -literal/ { inside = 1; next }
        /^\.Ed/ { inside = 0; file = 0; next }
        !inside { next }
        { gsub (/\\e/, "\\"); gsub (/\\&/, "") }
        file { print "F " $0; next }
        /^\$ / { print "C " substr ($0, 3); next }
        /^> / { print "> " substr ($0, 3); next }
        { print "E " $0 }' "$page"
}

#   answers COMMAND PATTERN
# shellcheck disable=SC2317
answers () {
    typed "$1"
    # shellcheck disable=SC2053
    [[ ${got%$'\n'} == $2 ]] || {
        printf 'comes back:\n%s\n' "$got"
        return 1
    }
}

command='' wanted='' section='' file=''
#   One command and what is to come back, if there is one.
try () {
    [ -z "$command" ] || check "$section: ${command%%$'\n'*}" \
        answers "$command" "${wanted#$'\n'}"
    command='' wanted=''
}
#   try_page FROM TO: the commands from section FROM on, until section TO.
try_page () {
    local line text
    while IFS= read -r line <&3; do
        text=${line#* }
        case $line in
            'C '* | 'file '* | 'host '* | 'section '*) try ;;
        esac
        case $line in
            'C '*) command=$text ;;
            '> '*) command+=$'\n'$text ;;
            'section '*) section=$text ;;
            'host '*) host=$text ;;
            'file '*)
                file=$text
                : >"$file"
                ;;
            'F '*) printf '%s\n' "$text" >>"$file" ;;
            'E ...') wanted+='*' ;;
            'E '*)
                text=$(sed 's/[][\\*?]/\\&/g' <<<"$text")
                wanted+=$'\n'${text//.../*}
                ;;
        esac
    done 3< <(steps | sed -n "/^section $1\$/,/^section $2\$/p")
    try
}
