#!/bin/bash
#   cli_tutorial.sh - lockkeeper-tutorial(7) does not lie
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Types what the page has behind "$ ", in its order, into one shell, and
#   compares what comes back: "..." stands for anything. A block behind a
#   comment "file NAME" is that file. cli_tutorial_hosts.sh has THREE HOSTS and
#   ANOTHER MACHINE.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source=tests/cluster/page_tap.sh
. "$root/tests/cluster/page_tap.sh"

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
mkfifo "$work/typed" "$work/answers"
PATH=$BUILD:$work/bin:$PATH bash --norc \
    <"$work/typed" >"$work/answers" 2>&1 &
shell=$!
exec {typing}>"$work/typed" {reading}<"$work/answers"

#   typed COMMAND: all that comes back, into $got. What the page waits for may
#   take longer on a machine that is busy, and leaders may be missed there: who
#   only looks looks again.
typed () {
    local tries
    for ((tries = 0; tries < 60; tries++)); do
        type_it "$1" || return 1
        [[ $1 =~ ^lockkeeper\ (list|show) &&
            $got =~ no\ leader\ (has|tells) ]] || return 0
        sleep 1
    done
}

type_it () {
    local line text
    got=
    text=$(sed -E 's/\bsleep ([0-9]+)/sleep $((2 * \1))/g' <<<"$1")
    printf '%s\necho; echo "=== done ==="\n' "$text" >&"$typing"
    while IFS= read -r -t 60 -u "$reading" line; do
        [ "$line" != '=== done ===' ] || {
            got=${got%$'\n'}
            return 0
        }
        #   What a shell tells of its jobs is not in the page.
        [[ $line =~ :\ line\ [0-9]+:\ .*Killed ]] || got+=$line$'\n'
    done
    got+='(there is no answer)'
    hopeless="there is no answer to $1"
    return 1
}

#   Its sandbox ends all that was typed into it.
finish_test () {
    exec {typing}>&-
    pkill -TERM -P "$shell"
    wait "$shell" 2>/dev/null
}

try_page 'A cluster to play with' 'THREE HOSTS'
finish_test
check "more than thirty commands were tried: $cases" test "$cases" -gt 30
done_checking
