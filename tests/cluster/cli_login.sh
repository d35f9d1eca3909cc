#!/bin/bash
#   cli_login.sh - `lockkeeper login`, with a router that is played
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   A cluster that has an issuer is zones.sh's.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"

/usr/bin/python3 -c 'import zmq' 2>/dev/null || {
    echo '1..0 # SKIP there is no python3-zmq'
    rm -rf "$work"
    exit 0
}
unset LOCKKEEPER_CLIENT LOCKKEEPER_ENDPOINT
/usr/bin/python3 "$(dirname "$0")/login_router.py" "$work/log" \
    >"$work/server" 2>"$work/router.err" &
router=$!
finish_test () {
    kill "$router"
    wait "$router" 2>/dev/null
}
is_there () {
    grep -q tcp: "$work/server"
}
check 'a router is there' await is_there

file=$work/client
"$lockkeeper" client new "$file" >/dev/null 2>&1
printf '    server = "%s"\n' "$(cat "$work/server")" >>"$file"
printf 'right\n' >"$work/password"
printf 'wrong\n' >"$work/wrong"

#   log_in CODE TEXT USER [ARGUMENTS]: with a password that is right.
log_in () {
    local code=$1 text=$2 user=$3
    shift 3
    check "log in: $text" says "$code" "$text" "$lockkeeper" login \
        --client "$file" --zone corp --user "$user" \
        --password-file "$work/password" "$@"
}
mode_of () {
    [ "$(stat -c %a "$file.credential")" = 600 ]
}

#   ------------------------------------------------------------ usage

check 'no client file' says 125 "'login' needs --client" \
    "$lockkeeper" login --zone corp
check 'no zone' says 125 "'login' needs --zone" \
    "$lockkeeper" login --client "$file"
check 'two things at once' says 125 '--renew does not go with --show' \
    "$lockkeeper" login --client "$file" --renew --show
check 'no zone to show' says 125 '--show does not go with --zone' \
    "$lockkeeper" login --client "$file" --show --zone corp
check 'no such user' says 125 "'a b' cannot be the name of a user" \
    "$lockkeeper" login --client "$file" --zone corp --user 'a b'
check 'no password' says 125 'cannot read the password: no such file' \
    "$lockkeeper" login --client "$file" --zone corp --password-file /none
check 'no terminal' says 125 'cannot read the password: ' \
    setsid -w "$lockkeeper" login --client "$file" --zone corp
check 'nothing to show' says 1 "has no credential" \
    "$lockkeeper" login --client "$file" --show

#   ------------------------------------------------------------ log in

log_in 1 'cannot log in: zone, user or password is wrong' nobody
log_in 124 'too many wrong passwords; try again in 30 s' slow
log_in 124 'the authority does not answer' late
log_in 125 'nobody issues for that zone' lost
log_in 125 'no credential of our key' stolen
check 'nothing is kept of these' [ ! -e "$file.credential" ]
log_in 0 'zone         corp' right
check 'for our eyes alone' mode_of
check 'it did not register for that' code 1 grep REGISTER "$work/log"
check 'the first line alone' says 0 'role         operator' sh -c \
    'printf "right\nmore\n" | "$@"' sh "$lockkeeper" login --client "$file" \
    --zone corp --user right --password-file -
check 'a wrong password' says 1 'password is wrong' "$lockkeeper" login \
    --client "$file" --zone corp --user right --password-file "$work/wrong"
check 'by the environment' says 0 'user         right' \
    env LOCKKEEPER_CLIENT="$file" "$lockkeeper" login --zone corp \
    --user right --password-file "$work/password"

#   Typed at a terminal, which does not show it.
typed () {
    /usr/bin/python3 - "$lockkeeper" "$file" "$1" <<'END'
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "login", "--client", sys.argv[2],
                           "--zone", "corp", "--user", "right"])
shown = b""
while b"password: " not in shown:
    shown += os.read(terminal, 1000)
os.write(terminal, sys.argv[3].encode())
try:
    while True:
        part = os.read(terminal, 1000)
        if not part:
            break
        shown += part
except OSError:
    pass
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(shown.decode(), "code", code)
END
}
check 'typed' says 0 'code 0' typed $'right\n'
hidden () {
    typed $'right\n' | sed 's/user .*//' >"$work/typed"
    grep -q 'password: ' "$work/typed" && ! grep -q right "$work/typed"
}
check 'nobody sees it' hidden
check 'and thought better of' says 0 'code -2' typed $'rig\x03'

#   ------------------------------------------------------------ afterwards

shown () {
    "$lockkeeper" login --client "$file" --show --json >"$work/shown" &&
        grep -q '"renewable":true' "$work/shown" &&
        grep -q "\"file\":\"$file.credential\"" "$work/shown"
}
check 'show' shown
before=$(cat "$file.credential")
check 'renew' says 0 'until ' "$lockkeeper" login --client "$file" --renew
check 'by the former one' says 0 REGISTER grep REGISTER "$work/log"
check 'which is another one' [ "$before" != "$(cat "$file.credential")" ]
#   Nobody tells of hosts there.
listed () {
    "$lockkeeper" --client "$file" list >"$work/listed" &&
        grep -qE '^held +right +\(own\) .* one$' "$work/listed" &&
        grep -qE '^held +- +far-1-backup .* two$' "$work/listed"
}
check 'list in a zone' listed
echo 'the credential has ended' >"$work/log.refusal"
check 'it does not count' says 125 'refused: the credential has ended' \
    "$lockkeeper" --client "$file" list
check 'at once' says 125 'refused: the credential has ended' \
    "$lockkeeper" --client "$file" run --wait 100 thing -- true
rm "$work/log.refusal"
sed -i 's/corp/core/' "$file.credential"
check 'changed by somebody' says 1 'was changed since it was issued' \
    "$lockkeeper" login --client "$file" --show
"$lockkeeper" client new "$work/other" >/dev/null 2>&1
log_in 0 'zone         corp' right
printf '    credential = client.credential\n' >>"$work/other"
check 'of another key' says 1 'the credential is of another key' \
    "$lockkeeper" login --client "$work/other" --show

finish_test
done_checking
