#!/bin/bash
#   issuer_router.sh - log-ins by way of routers, from this host and another one
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   And what it logs when something is wrong, as in lockkeeper-issuer(8).

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/speak_tap.sh
. "$(dirname "$0")/speak_tap.sh"
in_sandbox "$0" --hosts 2
# shellcheck source=tests/cluster/errors_tap.sh
. "$(dirname "$0")/errors_tap.sh"
page=lockkeeper-issuer.8
issuer=''
declare -A home=([ann]=h1 [bob]=h2)
trap 'kill $issuer 2>/dev/null' EXIT

#   start OPTIONS...: an issuer of h1.
start () {
    "$BUILD/lockkeeper-issuer" --endpoint "$(endpoint_of h1)" \
        --keys "$work/keys" --authorities "$work/authorities" "$@" \
        >>"$work/log" 2>&1 &
    issuer=$!
}
ended () {
    kill "-$1" "$issuer"
    code 0 wait "$issuer"
}
log_has () {
    grep -qF -- "$1" "$work/log"
}
#   login SPEAKER SERIAL ZONE USER PASSWORD: is asked; its answer is heard.
login () {
    say "$1" "$1@${home[$1]}" router@. LOGIN "$2" 0 \
        "{\"zone\":\"$3\",\"user\":\"$4\",\"password\":\"$5\",\
\"key\":\"$client\"}"
    within 60 heard "$1" "^router@[^ ]* LOGIN(FAILED)? $2 " ||
        { cat "$work/$1.out"; return 1; }
}
gets_credential () {
    login "$@" && heard "$1" "LOGIN $2 .*lockkeeper-credential-1 $3 $4 user "
}
is_denied () {
    login "$@" && heard "$1" "LOGINFAILED $2 .*\"error\":\"denied\""
}
#   The file of an authority.
authority () {
    printf '%s\n' authority "$@" >"$work/authorities/corp.conf"
}
good_authority () {
    authority '    type = passwords' "    file = $work/passwords"
}

mkdir "$work/keys" "$work/authorities"
key=$("$lockkeeper" key new "$work/keys/acme.key")
client=$("$lockkeeper" client new "$work/client" 2>/dev/null)
good_authority
echo 'ann-secret' | "$lockkeeper" user add ann --zone acme --role user \
    --file "$work/passwords" --password-file - >"$work/added" 2>&1
check 'a user is there' grep -q '^ann acme:user' "$work/passwords"
check 'a zone is there' on h1 zone add acme --authority corp --issuer "$key"

start --log-level info
check 'an issuer attaches, and knows of what it can issue' \
    await log_has 'issuer: issues zone=acme'
speaker ann "$(endpoint_of h1)"
check 'somebody is there' enter ann ann true
check 'and logs in by the router' gets_credential ann 2 acme ann ann-secret
check 'not by a wrong password' is_denied ann 3 acme ann wrong
check 'nor in another zone' is_denied ann 4 none ann ann-secret
say ann ann@h1 issuer@. LOGIN 5 0 \
    "{\"zone\":\"acme\",\"user\":\"ann\",\"password\":\"ann-secret\"}"
check 'nobody asks an issuer itself' \
    within 60 heard ann '^issuer@h1 INVALID 5 .*that is not yours to say'
speaker bob "$(endpoint_of h2)"
enter bob bob true
check 'another host passes it on' gets_credential bob 2 acme ann ann-secret
check 'and tells of a refusal' is_denied bob 3 acme zoe ann-secret
check 'passwords are in no log' eval '! grep -rqF -e ann-secret \
    "$work/log" "$LOCKKEEPER_SANDBOX"/*/*.log'

logs () {
    check "it logs: $1" logged "$page" "$1" "$work/log"
}
authority '    typ = 1'
kill -HUP "$issuer"
logs 'authority: not read: ...'
logs "authority: stays as it was name=..."
check 'which goes on' gets_credential ann 6 acme ann ann-secret
authority '    type = ldap'
kill -HUP "$issuer"
check "it logs: '...' is missing: ..." await log_has \
    "'authority/url' is missing: where the server is"
note "$page" "'...' is missing: ..." >/dev/null
good_authority
echo nonsense >"$work/keys/other.key"
chmod 600 "$work/keys/other.key"
"$lockkeeper" key new "$work/keys/lab.key" >/dev/null
kill -HUP "$issuer"
logs 'issuer: key not read: ...'
logs 'issuer: issues nothing zone=...: ...'
chmod 644 "$work/passwords"
login ann 7 acme ann ann-secret
logs 'authority: does not answer zone=...: ...'
chmod 600 "$work/passwords"
for i in {1..257}; do
    ln -s none "$work/authorities/$i.conf"
done
kill -HUP "$issuer"
logs "issuer: '...' has more than ... files '*...': the rest counts for nothing"
rm "$work/authorities"/[0-9]*.conf
mv "$work/keys" "$work/away"
kill -HUP "$issuer"
logs "issuer: cannot read the folder '...': ..."
mv "$work/away" "$work/keys"
unmet "$page" 'issuer: ends: ...' 'cannot start a thread: ...'
all_met "$page"
check 'SIGTERM ends it' ended TERM

check 'without any a log-in is refused' eval \
    'login ann 8 acme ann ann-secret && heard ann "LOGINFAILED 8 .*unknown"'
start
check 'with one again it is not' eval \
    'await gets_credential ann 9 acme ann ann-secret'
check 'SIGINT ends it, too' ended INT
#   The later one has inherited the way to the one ahead of it.
silence bob
silence ann
done_checking
