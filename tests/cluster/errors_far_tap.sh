# shellcheck shell=bash
#   errors_far_tap.sh - what the command says on and of machines without a
#   router
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced by cli_errors.sh, in its sandbox.

#   other WORDS...: a client file that is ours alone, with these lines.
other () {
    printf 'client\n' >"$work/other" && chmod 600 "$work/other" &&
        printf '    %s\n' "$@" >>"$work/other"
}
#   by_file CODE ITEM [ENDPOINT]: what is wrong with it.
by_file () {
    check "$2" met lockkeeper.1 "$1" "$2" env \
        LOCKKEEPER_ENDPOINT="${3:-}" "$lockkeeper" --client "$work/other" list
}
says_it 125 "'--client' needs a client file" --client
"$lockkeeper" client new "$work/made" >"$work/made.key" 2>"$work/made.err"
check 'a client file is made' logged lockkeeper.1 "'...' is made; \
on a host of the cluster: lockkeeper clients add ... '...'; \
then add its servers to the file" "$work/made.err" 'lockkeeper: '
made=$(cat "$work/made.key")
mapfile -t pair < <(grep -o '[a-z]*-key = .*' "$work/made")
check 'none' met lockkeeper.1 125 "cannot open the client file '...': ..." \
    "$lockkeeper" --client "$work/nothing" list
check 'a folder' met lockkeeper.1 125 "cannot read the client file '...': ..." \
    "$lockkeeper" --client "$work" list
other "${pair[@]}"
by_file 125 "the client file has no 'client/server'"
says_it 125 "'--client' is of one file, and no other" \
    config verify --client "$work/other" "$work/made"
other "${pair[0]}"
by_file 125 "'...' has no '...'"
"$lockkeeper" client new "$work/second" >"$work/second.key" 2>/dev/null
other "${pair[0]}" "$(grep -o 'secret-key = .*' "$work/second")"
by_file 125 "the keys of '...' are not of one pair"
other "${pair[@]}" "server = \"tcp://127.0.0.1:1 $made\"" \
    "server = \"tcp://127.0.0.1:2 $(cat "$work/second.key")\""
by_file 125 "the client file has no key for '...'" tcp://127.0.0.1:3
check 'nobody is there' met lockkeeper.1 125 'no server serves us: ...' \
    "$lockkeeper" --client "$work/other" list
other "${pair[@]}" 'domain = au.perth' 'domain-limit = nz'
by_file 125 "'...': 'client/domain' is not in 'client/domain-limit'"
other "${pair[@]}" "server = \"tcp://127.0.0.1:1 $made\"" \
    "server = \"tcp://127.0.0.1:2 $(cat "$work/second.key")\""
by_file 125 "not 1 to ... endpoints" \
    "$(printf 'tcp://h:1,%.0s' {1..33})"
check 'what is for hosts' met lockkeeper.1 125 "'...' is not to be had from a \
machine without a router: run it on a host of the cluster" \
    "$lockkeeper" --client "$work/other" clients list
chmod 644 "$work/other"
by_file 125 "others may read '...': \`chmod 600\` it, and make new keys if \
they had the time"
says_it 125 "'...' is no name: 1 to 63 of A-Z a-z 0-9 . _ -" \
    clients add 'm 1' "$made"
says_it 125 \
    "'...' is no public key: 40 characters, as the client's file has it" \
    clients add m1 short
says_it 1 "no client is called '...'" clients remove m1
check 'one may come' says 0 '' "$lockkeeper" clients add m1 "$made"
says_it 1 "client '...' has that key already" clients add m2 "$made"
check 'with another role' says 0 '' "$lockkeeper" clients add m1 "$made" \
    --role operator
check 'which is listed' eval '"$lockkeeper" clients list |
    grep -q "^client  *m1 .* operator\$"'
check 'and as before' says 0 '' "$lockkeeper" clients add m1 "$made"
says_it 1 "client '...' has another key: --replace takes that out, or take \
another name" clients add m1 "$(cat "$work/second.key")"
says_it 125 "--replace is for 'add'" clients list --replace
says_it 125 "--json is for 'list'" clients remove m1 --json
it_says 0 "no host that is connected listens for applications on other \
machines: router/listen-clients in lockkeeper.conf(5)" \
    "$lockkeeper" clients list
#   cluster/far_library, cluster/far_finding, cluster/far_beacon,
#   unit/client_servers and unit/client_file; unit/common.
unmet lockkeeper.1 "'...' is not tcp://HOST:PORT"
unmet lockkeeper.1 \
    "lost '...': no server answered for as long as its lease lasted" \
    "lost '...': the server lost touch with the leaders, and no other one took \
over in time"
unmet lockkeeper.1 'it does not know our key' \
    'it has another key than we know, or is no server of clients' \
    'version ... of the settings is in force' "withdrawn: the key of '...', ..."
unmet lockkeeper.1 "it is in ..., outside of 'client/domain-limit' ..." \
    "its location domain is not known, and 'client/domain-limit' is ..." \
    'its lock service does not answer' 'no reason told' \
    'it stops, or serves as many as it can' \
    'no beacon was heard of a server whose key we have' \
    "no network interface for beacons on port ...: \$ZSYS_INTERFACE names \
one that can broadcast; or the port is not for us"
unmet lockkeeper.1 "'clients/key' has the key of '...' twice" \
    "'hosts/domain' has '...' twice"
#   cluster/cli_login, unit/client_file, unit/credential_file.
unmet lockkeeper.1 'the router refused: log in first' \
    'the router refused: the credential ...' 'cannot log in: ...' \
    'cannot log in: no answer within ... s' \
    'cannot log in: the answer has no credential of our key' \
    'cannot read the password: ...' "'...' cannot be the name of a user" \
    "'...' has no credential" \
    "'...': the credential is of another key than '...'" \
    'that is no credential' 'the credential does not count yet' \
    'the credential was changed since it was issued' \
    'the credential has ended' \
    "'...': the path of the credential is too long"
