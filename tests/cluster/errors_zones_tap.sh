# shellcheck shell=bash
#   errors_zones_tap.sh - what the command says of zones, credentials and users
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced by cli_errors.sh. Each refusal of a verb is in cli_zones.

"$lockkeeper" key new "$work/issuer" >"$work/issuer.key" 2>/dev/null
"$lockkeeper" client new "$work/zoned" >"$work/zoned.key" 2>/dev/null
issue=(credential issue --issuer "$work/issuer" --zone acme --user alice
    --ttl 1h --key "$(cat "$work/zoned.key")")
"$lockkeeper" "${issue[@]}" >"$work/credential"
"$lockkeeper" "${issue[@]}" --not-before 2020-01-01T00:00:00Z >"$work/former"
sed 's/ user / admin /' "$work/credential" >"$work/forged"
says_it 125 "a zone's name has 1 to 63 of A-Z a-z 0-9 . _ -" zone add a/b
says_it 125 "an authority's name has 1 to 63 of A-Z a-z 0-9 . _ -" \
    zone add acme --authority a/b
says_it 125 "a user's name has 1 to 127 bytes of UTF-8 without blanks" \
    "${issue[@]}" --user 'al ice'
says_it 125 "a client's public key has 40 characters, as its file has it" \
    "${issue[@]}" --key short
says_it 125 "'credential issue' has options alone: who may come is named by \
--user" "${issue[@]}" alice
it_says 0 "the role admin counts in zone 'default' alone: elsewhere it is that \
of an operator" "$lockkeeper" "${issue[@]}" --role admin
says_it 125 'that is no credential' credential show "$work/issuer.key"
says_it 125 'the credential was changed since it was issued' \
    credential show "$work/forged"
#   cluster/cli_zones has them on stdout.
unmet lockkeeper.1 'the credential does not count yet' \
    'the credential has ended'
says_it 125 "'credential revoke' of a serial needs --until, when that \
credential ends" credential revoke 0123456789abcdef
says_it 1 'credential ... has ended: nobody comes by it' \
    credential revoke "$work/former"
says_it 125 "--force is for 'remove'" zone list --force
says_it 125 "--drop-issuer is for 'set'" zone add acme --drop-issuer x
says_it 125 "limits, issuers and the authority are for 'add' and 'set'" \
    zone list --locks 1
says_it 1 "there is no zone '...' in the settings" zone remove nowhere
says_it 125 'that is no key of an issuer, nor its file: ...' \
    zone add acme --issuer "$work/zoned"

#   With one change of the settings, by which all is there.
printf '%s\n' zones '    zone = acme' \
    '    revoked = "0123456789abcdef 4000000000"' >"$work/zones"
says_it 1 "'zones/issuer' is for '...', and there is no such zone" \
    settings set zones/issuer "nowhere $(cat "$work/issuer.key")"
check 'a zone' says 0 'is in force' "$lockkeeper" settings edit "$work/zones"
says_it 1 "there is a zone '...' already: \`lockkeeper zone set\` changes it" \
    zone add acme
says_it 1 "zone '...' has no issuer '...'" \
    zone set acme --drop-issuer "$(cat "$work/issuer.key")"
says_it 0 'credential ... is revoked already' \
    credential revoke 0123456789abcdef --until 2100-01-01T00:00:00Z
#   cluster/cli_zones.
unmet lockkeeper.1 "zone '...' has ... locks that are held or waited for: \
--force takes it out all the same"

of_file=(--file "$work/passwd")
new=(--zone acme --role user --password-file "$work/issuer.key")
check 'a user' "$lockkeeper" user add alice "${new[@]}" "${of_file[@]}"
says_it 1 "user '...' is there already: \`lockkeeper user passwd\` sets \
another password" user add alice "${new[@]}" "${of_file[@]}"
says_it 1 "'...' has no user '...'" user remove bob "${of_file[@]}"
says_it 1 "user '...' has no role in zone '...'" \
    user remove alice --zone lab "${of_file[@]}"
says_it 125 "--role is for 'add'" user list --role user "${of_file[@]}"
says_it 125 "--password-file is for 'add' and 'passwd'" \
    user list --password-file x "${of_file[@]}"
says_it 125 \
    'a password has 1 to ... bytes of UTF-8 without control characters' \
    user passwd alice --password-file /dev/null "${of_file[@]}"
says_it 1 "authority '...' has no password file: '...' does not say so" \
    user list --authority "none-$$"
says_it 125 "cannot open the folder of '...': ..." \
    user remove bob --file "$work/none/passwd"
check 'no terminal' met lockkeeper.1 125 \
    'there is no terminal to ask for the password: --password-file has it' \
    setsid -w "$lockkeeper" user passwd alice "${of_file[@]}"
for zone in z{1..15}; do
    "$lockkeeper" user add alice --zone "$zone" --role user "${of_file[@]}"
done
says_it 1 "user '...' is in ... zones: there is no room for another one" \
    user add alice --zone more --role user "${of_file[@]}"
printf 'open\nopem\n' >"$work/differ"
printf '\004' >"$work/nothing"
check 'two passwords' met lockkeeper.1 1 \
    'these were two passwords: nothing was changed' at_terminal \
    "$work/differ" "$lockkeeper user passwd alice ${of_file[*]}" '^lockkeeper: '
check 'no password' met lockkeeper.1 125 'no password was given' at_terminal \
    "$work/nothing" "$lockkeeper user passwd alice ${of_file[*]}" 'lockkeeper: '
hash=$(sed 's/.* //' "$work/passwd")
for i in {1..4095}; do
    echo "u$i acme:user $hash"
done >>"$work/passwd"
says_it 1 "'...' has ... users: there is no room" \
    user add bob "${new[@]}" "${of_file[@]}"
echo 'dora acme:king x' >>"$work/passwd"
says_it 125 "'...', line ..., is no 'USER ZONE:ROLE,ZONE:ROLE HASH', or of a \
user that is there already" user list "${of_file[@]}"
head -c 5000 /dev/zero >"$work/issuer.big"
chmod 600 "$work/issuer.big"
says_it 125 "'...' is too large or no text" key show "$work/issuer.big"
chmod 640 "$work/passwd"
says_it 125 "others may read '...': \`chmod 600\` it, and change what is in it \
if they had the time" user list "${of_file[@]}"
#   cluster/cli_zone_client, as a user and in zones.
unmet lockkeeper.1 "'...' needs the role admin, you are ..." \
    'the list cannot be had: ...' 'the status cannot be had: ...' \
    'the table cannot be had: ...'
