#!/bin/bash
#   cli_zones.sh - zones, issuers, credentials and users, on the command line
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   There are ten seconds between two changes of settings, for which it sleeps.

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/speak_tap.sh
. "$(dirname "$0")/speak_tap.sh"
in_sandbox "$0" --plain --hosts 1
cd "$work" || exit 1

#   without_cluster COMMAND...: no router is there, nor any configuration.
without_cluster () {
    LOCKKEEPER_ENDPOINT=ipc://$work/none/router "$@"
}
#   is TEXT COMMAND...: prints that, and nothing else.
is () {
    local text=$1
    shift
    "$@" >"$work/printed" 2>&1
    [ "$(cat "$work/printed")" = "$text" ] || {
        cat "$work/printed"
        return 1
    }
}
has_mode () {
    [ "$(stat -c %a "$2")" = "$1" ]
}
#   field NAME: of one JSON object.
field () {
    sed -n 's/.*"'"$1"'": *\("\([^"]*\)"\|\([0-9]*\)\).*/\2\3/p'
}

#   ------------------------------------------------------------ issuers

key=$(without_cluster "$lockkeeper" key new acme.key)
check 'a pair of an issuer is made' eval '[ "${#key}" = 64 ]'
check 'for its owner alone' has_mode 600 acme.key
check 'which shows its public key, and nothing else' \
    is "$key" "$lockkeeper" key show acme.key
check 'also for programs' eval \
    '[ "$("$lockkeeper" key show acme.key --json | field key)" = "$key" ]'
check 'nothing is written over' says 125 "cannot make 'acme.key'" \
    "$lockkeeper" key new acme.key
other=$("$lockkeeper" key new other.key)
chmod 644 other.key
check 'a pair that others may read is none' says 125 'others may read' \
    "$lockkeeper" key show other.key
chmod 600 other.key

#   ------------------------------------------------------------ credentials

"$lockkeeper" client new client >client.key 2>/dev/null
client=$(cat client.key)
issue () {
    without_cluster "$lockkeeper" credential issue --issuer acme.key \
        --zone acme --user alice --key "$client" "$@"
}
shown () {
    "$lockkeeper" credential show --json | field "$1"
}
issue --ttl 24h >credential
check 'a credential is one line' eval '[ "$(wc -l <credential)" = 1 ]'
check 'that counts' says 0 'now          it counts' \
    "$lockkeeper" credential show credential
check 'of standard input, too' says 0 '"counts":true' \
    sh -c "'$lockkeeper' credential show --json <credential"
check 'whose role is user' eval '[ "$(shown role <credential)" = user ]'
check 'which its issuer signed' eval \
    '[ "$(shown issuer <credential)" = "$key" ]'
check 'for that client' eval '[ "$(shown key <credential)" = "$client" ]'
lasts () {
    local from until
    from=$(shown not_before <"$1")
    until=$(shown not_after <"$1")
    [ $(($(date -d "$until" +%s) - $(date -d "$from" +%s))) = "$2" ]
}
check 'for a day' lasts credential 86400
for span in 90s:90 30m:1800 7d:604800; do
    issue --ttl "${span%:*}" >short
    check "for ${span%:*}" lasts short "${span#*:}"
done
issue --ttl 1h --not-before 2020-01-01T00:00:00Z --role operator >former
check 'one that is over counts no more' says 1 'the credential has ended' \
    "$lockkeeper" credential show former
check 'and says when that was' says 1 '2020-01-01T01:00:00Z' \
    "$lockkeeper" credential show former
check 'and what role it had' eval '[ "$(shown role <former)" = operator ]'
issue --ttl 1h --not-before 2100-01-01T00:00:00Z >later
check 'nor does one of a later time' says 1 'does not count yet' \
    "$lockkeeper" credential show later
sed 's/ user / admin /' credential >forged
check 'one that was changed is none' says 125 'was changed since' \
    "$lockkeeper" credential show forged
check 'nor is any text' says 125 'that is no credential' \
    "$lockkeeper" credential show client.key
check 'an admin of another zone is told' says 0 "counts in zone 'default'" \
    issue --ttl 1h --role admin

#   refused TEXT ARGUMENTS...: wrong usage of lockkeeper.
refused () {
    check "refused: $1" says 125 "$1" "$lockkeeper" "${@:2}"
}
all=(--issuer acme.key --zone acme --user alice --ttl 1h --key "$client")
refused 'needs one --issuer' credential issue "${all[@]:2}"
refused 'needs one --issuer' credential issue "${all[@]}" --issuer other.key
refused 'needs --zone' credential issue "${all[@]:0:2}" "${all[@]:4}"
refused "a zone's name has" credential issue "${all[@]}" --zone a/b
refused 'needs --user' credential issue "${all[@]:0:4}" "${all[@]:6}"
refused "a user's name has" credential issue "${all[@]}" --user 'al ice'
refused 'needs --ttl' credential issue "${all[@]:0:6}" "${all[@]:8}"
refused 'needs --key' credential issue "${all[@]:0:8}"
refused "a client's public key has" credential issue "${all[@]}" --key "$key"
refused '--role needs one of' credential issue "${all[@]}" --role root
for span in 12 0 0h h 1w -1h 1h30 99999999999d; do
    refused '--ttl needs a time' credential issue "${all[@]}" --ttl "$span"
done
for date in today 2030-01-01 2030-01-01T00:00:00 1960-01-01T00:00:00Z; do
    refused '--not-before needs a time in UTC' credential issue "${all[@]}" \
        --not-before "$date"
done
refused 'has options alone' credential issue alice "${all[@]}"
refused "cannot open 'none'" credential issue "${all[@]:2}" --issuer none
refused 'needs issue, show or revoke' credential
refused 'takes one file' credential show a b
refused 'needs a serial or a file' credential revoke
refused 'needs --until' credential revoke 0123456789abcdef
check 'there is nothing to revoke of what is over' says 1 'has ended' \
    "$lockkeeper" credential revoke former
refused 'needs new FILE or show FILE' key
refused 'needs new FILE or show FILE' key new

#   ------------------------------------------------------------ users

passwd=(--file "$work/corp.passwd")
user () {
    without_cluster "$lockkeeper" user "$@" "${passwd[@]}"
}
with_password () {
    echo "$1" | user "${@:2}" --password-file -
}
check 'a user is added' with_password sesame add alice --zone acme \
    --role operator
check 'to a file for its owner alone' has_mode 600 corp.passwd
check 'without the password' eval '! grep -q sesame corp.passwd'
check 'with its hash' grep -q '^alice acme:operator \$argon2id\$' corp.passwd
check 'who gets another role, and keeps the password' user add alice \
    --zone lab --role user
echo '# of corp' >>corp.passwd
check 'a second one' with_password other add bob --zone acme --role observer
check 'both are listed' is \
    "$(printf '%-16s %-16s %s\n' USER ZONE ROLE alice acme operator \
        alice lab user bob acme observer)" user list
check 'of one zone' eval '[ "$(user list --zone lab --json | wc -l)" = 1 ]'
# shellcheck disable=SC2034
former=$(grep '^alice' corp.passwd)
check 'another password' with_password mellon passwd alice
check 'is another hash' eval '[ "$(grep ^alice corp.passwd)" != "$former" ]'
check 'with the same roles' grep -q '^alice acme:operator,lab:user ' corp.passwd
check 'comments stay' grep -qx '# of corp' corp.passwd
check 'a zone is taken out' user remove alice --zone acme
check 'and no other' grep -q '^alice lab:user ' corp.passwd
check 'the last one takes the user out' user remove alice --zone lab
check 'altogether' eval '! grep -q ^alice corp.passwd'
check 'a user is removed' user remove bob
check 'who is no more' says 1 "has no user 'bob'" user remove bob

#   at_terminal TYPED ARGUMENTS...: with that typed.
at_terminal () {
    printf '%b' "$1" | script -qec "$lockkeeper user ${*:2} ${passwd[*]}" \
        /dev/null
}
check 'a password is asked for twice' says 0 'once more' \
    at_terminal 'open\nopen\n' add carol --zone acme --role user
check 'and is set' grep -q '^carol acme:user' corp.passwd
check 'two that differ are none' says 1 'these were two passwords' \
    at_terminal 'open\nopem\n' passwd carol
many () {
    local i pids=()
    for i in 1 2 3 4; do
        with_password x add "many$i" --zone acme --role user &
        pids+=($!)
    done
    wait "${pids[@]}"
    [ "$(grep -c ^many corp.passwd)" = 4 ]
}
check 'of several at once none is lost' many

refused_user () {
    check "refused: $1" says "$2" "$1" user "${@:3}"
}
refused_user 'is there already' 1 add carol --zone acme --role user \
    --password-file client.key
refused_user "has no user 'nobody'" 1 passwd nobody
refused_user "has no role in zone 'lab'" 1 remove carol --zone lab
refused_user 'needs --zone and --role' 125 add dora --zone acme
refused_user '--role is for' 125 list --role user
refused_user '--password-file is for' 125 list --password-file x
refused_user '--json is for' 125 remove carol --json
refused_user "a user's name has" 125 add '#dora' --zone acme --role user
refused_user "a user's name has" 125 add 'do ra' --zone acme --role user
refused_user "a zone's name has" 125 add dora --zone a/b --role user
refused_user "cannot read 'none'" 125 passwd carol --password-file none
refused_user '1 to 255 bytes' 125 passwd carol --password-file /dev/null
check 'refused: no terminal' says 125 'there is no terminal' setsid -w \
    "$lockkeeper" user passwd carol "${passwd[@]}"
refused 'needs --authority or --file' user list
check 'refused: an authority that has none' says 1 'has no password file' \
    "$lockkeeper" user list --authority none
refused "an authority's name has" user list --authority ../x
refused "needs list, add NAME" user
chmod 640 corp.passwd
refused_user 'others may read' 125 list
chmod 600 corp.passwd
echo 'dora acme:king x' >>corp.passwd
refused_user 'is no' 125 list
passwd=(--file "$work/none/passwd")
refused_user 'cannot open the folder' 125 remove carol

#   ------------------------------------------------------------ zones

listed () {
    "$lockkeeper" zone list --json >"$work/zones"
    [ "$(wc -l <"$work/zones")" = "$1" ]
}
check 'there is no zone' listed 0
check 'one is added' says 0 'version 1 of the settings is in force' \
    "$lockkeeper" zone add acme --locks 1000 --requests 50 --ttl 8h \
    --authority corp --issuer acme.key --issuer "$other"
check 'as the settings have it' is \
    'acme locks=1000 requests=50 ttl=28800 authority=corp' \
    "$lockkeeper" settings get zones/zone
check 'with both issuers' is "acme $key
acme $other" "$lockkeeper" settings get zones/issuer
check 'it is listed' eval '"$lockkeeper" zone list | grep -Eq \
    "^acme .*[ /]1000 .*[ /]50 .* 8h +7d corp +${key:0:8} ${other:0:8}"'
check 'and for programs' eval 'listed 1 &&
    [ "$(field locks_max <zones) $(field ttl_s <zones)" = "1000 28800" ] &&
    grep -q "{\"key\":\"$other\"}" zones'
check 'not twice' says 1 "there is a zone 'acme' already" \
    "$lockkeeper" zone add acme
check 'limits are changed, and an issuer goes' says 0 'version 2' \
    "$lockkeeper" zone set acme --locks 0 --renew 0 --authority '' \
    --drop-issuer "$other"
check 'what was not named stays' is \
    'acme requests=50 ttl=28800 renew=0' \
    "$lockkeeper" settings get zones/zone
check 'as does the other issuer' is "acme $key" \
    "$lockkeeper" settings get zones/issuer
check 'what is so already is no change' says 0 'nothing was changed' \
    "$lockkeeper" zone set acme --requests 50 --issuer acme.key
check 'an issuer that it has not' says 1 "has no issuer '$other'" \
    "$lockkeeper" zone set acme --drop-issuer "$other"
check 'a zone that there is not' says 1 "there is no zone 'lab'" \
    "$lockkeeper" zone set lab --locks 1
check 'nor to be removed' says 1 "there is no zone 'lab'" \
    "$lockkeeper" zone remove lab
refused 'no key of an issuer' zone set acme --issuer none
refused "needs an option that says" zone set acme
refused "a zone's name has" zone add a/b
refused "an authority's name has" zone set acme --authority a/b
refused "--json is for 'list'" zone set acme --json
refused "--force is for 'remove'" zone set acme --force
refused "--drop-issuer is for 'set'" zone add lab --drop-issuer "$key"
refused "are for 'add' and 'set'" zone list --locks 1
refused '--locks needs a number' zone set acme --locks x
refused '--ttl needs a time' zone set acme --ttl 0
refused 'needs list, add NAME' zone
refused 'needs list, add NAME' zone add

check 'a credential is revoked' says 0 'version 3' \
    "$lockkeeper" credential revoke credential
serial=$(shown serial <credential)
check 'as the settings have it' eval \
    '"$lockkeeper" settings get zones/revoked | grep -q "^$serial "'
check 'twice is no change' says 0 'is revoked already' \
    "$lockkeeper" credential revoke "$serial" --until 2100-01-01T00:00:00Z

speaker app "$(endpoint_of h1)"
in_zone () {
    enter app app true || return 1
    say app app@h1 lock@. LOCK 7 0 '{"object":"x","zone":"acme","wait":-1}'
    within 60 heard app '^lock@h1 LOCKED 7 '
}
check 'a lock is held there' in_zone
check 'so it is not removed' says 1 'has 1 locks that are held' \
    "$lockkeeper" zone remove acme
check 'but by force' says 0 'version 4' "$lockkeeper" zone remove acme --force
check 'with its issuers' says 1 'is not set' \
    "$lockkeeper" settings get zones/issuer
silence app
check 'what is revoked stays until it is over' eval \
    '"$lockkeeper" settings get zones/revoked | grep -q "^$serial "'
done_checking
