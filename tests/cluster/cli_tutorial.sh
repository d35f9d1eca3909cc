#!/bin/bash
#   cli_tutorial.sh - lockkeeper-tutorial(7) does not lie
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Types what the page has behind "$ ", in its order, into one shell, and
#   compares what comes back: "..." stands for anything. A block behind a
#   comment "file NAME" is that file.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
page=${TUTORIAL:-$root/man/lockkeeper-tutorial.7}

#   steps: of the page, as lines "file NAME", "F text", "C command" (one that
#   goes on: "> text") and "E what comes back"; "section NAME" ahead.
steps () {
    awk '
        /^\.S[hs] / { print "section " substr ($0, 5); next }
        /^\.\\" file / { print "file " $3; file = 1; next }
        /^\.Bd -literal/ { inside = 1; next }
        /^\.Ed/ { inside = 0; file = 0; next }
        !inside { next }
        { gsub (/\\e/, "\\"); gsub (/\\&/, "") }
        file { print "F " $0; next }
        /^\$ / { print "C " substr ($0, 3); next }
        /^> / { print "> " substr ($0, 3); next }
        { print "E " $0 }' "$page"
}

#   ------------------------------------------------------------ the shell

#   As after `make install`, for who works in his own folder.
mkdir "$work/home" "$work/pc"
sed -e "s|@prefix@|$root|" -e "s|@libdir@|$BUILD|" -e 's|@version@|0|' \
    -e "s|@includedir@|$root/include|" "$root/lockkeeper.pc.in" \
    >"$work/pc/lockkeeper.pc"
export PKG_CONFIG_PATH=$work/pc LD_LIBRARY_PATH=$BUILD PYTHONPATH=$root/python
export PYTHONDONTWRITEBYTECODE=1
mkdir "$work/bin"
python3 -c 'import zmq' 2>/dev/null ||
    ln -s /usr/bin/python3 "$work/bin/python3" # Debian's has it
cd "$work/home" || exit 1
coproc shell { PATH=$BUILD:$work/bin:$PATH exec bash --norc 2>&1; }

#   typed COMMAND: all that comes back, into $got.
typed () {
    local line
    got=
    printf '%s\necho; echo "=== done ==="\n' "$1" >&"${shell[1]}"
    while IFS= read -r -t 60 -u "${shell[0]}" line; do
        [ "$line" != '=== done ===' ] || {
            got=${got%$'\n'}
            return 0
        }
        #   What a shell tells of its jobs is not in the page.
        [[ $line =~ :\ line\ [0-9]+:\ .*Killed ]] || got+=$line$'\n'
    done
    got+='(there is no answer)'
    return 1
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

#   ------------------------------------------------------------ the page

command='' wanted='' section='' file=''
#   One command and what is to come back, if there is one.
try () {
    [ -z "$command" ] || check "$section: ${command%%$'\n'*}" \
        answers "$command" "${wanted#$'\n'}"
    command='' wanted=''
}
while IFS= read -r line <&3; do
    text=${line#* }
    case $line in
        'C '* | 'file '* | 'section '*) try ;;
    esac
    case $line in
        'C '*) command=$text ;;
        '> '*) command+=$'\n'$text ;;
        'section '*) section=$text ;;
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
done 3< <(steps)
try
eval "exec ${shell[1]}>&-"
wait "$shell_PID" 2>/dev/null
check "more than thirty commands were tried: $cases" test "$cases" -gt 30
done_checking
