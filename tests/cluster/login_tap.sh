# shellcheck shell=bash
#   login_tap.sh - two hosts, users of LDAP and of a file, and laptops (TAP)
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced behind own_hosts_tap.sh. h1 and h2 are linked by keys; h1 issues:
#   for `acme` by LDAP, for `corp` by a file of passwords. Passwords are
#   USER-secret.

here=$(dirname "$0")
issuer=''
acme=$work/issuers/acme.key

/usr/bin/python3 -c 'import zmq' 2>/dev/null && [ -x /usr/sbin/slapd ] || {
    echo '1..0 # SKIP there is no slapd, or no pyzmq'
    rm -rf "$work"
    exit 0
}

mkdir "$work/issuers" "$work/authorities"

#   listen H: with a port of laptops, and logs of zones.
listen () {
    own "$1"
    mkdir "$work/$1/zones"
    sed -i "s|^    listen = .*|&\n    listen-clients = \"tcp://$net.${1#h}:7412\"|
            s|^    run = .*|&\n    zone-logs = \"$work/$1/zones\"|" \
        "$work/$1/conf"
}
issue_here () {
    cat >>"$work/h1/conf" <<END_OF_IT
issuer
    endpoint = "ipc://$work/h1/router"
    keys = "$work/issuers"
    authorities = "$work/authorities"
END_OF_IT
}
#   start_issuer: h1's.
start_issuer () {
    "$BUILD/lockkeeper-issuer" --config "$work/h1/conf" \
        2>>"$work/h1/issuer.log" &
    issuer=$!
    pids+=("$issuer")
}

#   serve_users USER...: slapd, which knows these.
serve_users () {
    local ldap
    coproc slapd { exec /usr/bin/python3 "$here/login_slapd.py" "$@"; }
    pids+=("$slapd_PID")
    read -r -t 90 ldap files <&"${slapd[0]}" || return 1
    cat >"$work/authorities/people.conf" <<END_OF_IT
authority
    type = ldap
    url = "ldaps://127.0.0.1:$ldap"
    ca = "$files/good/ca.pem"
    base = "ou=people,dc=test"
    group-base = "ou=groups,dc=test"
    bind-dn = "cn=search,dc=test"
    bind-password-file = "$files/search-secret"
    role = "acme user lockers"
END_OF_IT
}
#   fire USER: is gone from there.
fire () {
    echo "gone $1" >&"${slapd[1]}"
    read -r -t 90 <&"${slapd[0]}"
}

#   The second authority, which knows these.
list_users () {
    local user
    printf '%s\n' authority '    type = passwords' \
        "    file = $work/passwords" >"$work/authorities/file.conf"
    for user in "$@"; do
        echo "$user-secret" | "$lockkeeper" user add "$user" --zone corp \
            --role operator --file "$work/passwords" --password-file - ||
            return 1
    done
}

#   begin_cluster ACME CORP: with more words for these zones.
begin_cluster () {
    "$lockkeeper" key new "$acme" >"$work/acme"
    "$lockkeeper" key new "$work/issuers/corp.key" >"$work/corp"
    listen h1
    issue_here
    listen h2
    check 'the first host' says 0 "'h1' is the first host" \
        init h1 --first --cluster one
    start h1
    check 'locks can be had' at h1 wait-ready --timeout 90
    check 'the second joins' says 0 'is to join' joins h2
    start h2
    check 'there are zones' await set_zones "$1" "$2"
    start_issuer
    check 'both are ready' at h2 wait-ready --timeout 90
    check 'and linked' await linked
    check 'h1 issues for both' await issues_both
}
set_zones () {
    at h1 settings get >"$work/settings" &&
        cat >>"$work/settings" <<END_OF_IT &&
zones
    zone = "acme $1 authority=people"
    zone = "corp $2 authority=file"
    issuer = "acme $(cat "$work/acme")"
    issuer = "corp $(cat "$work/corp")"
END_OF_IT
        at h1 settings edit "$work/settings"
}
linked () {
    at h1 status | grep -q '^h2 .* live '
}
issues_both () {
    [ "$(grep -c 'issuer: issues zone=' "$work/h1/issuer.log")" -ge 2 ]
}

#   laptop NAME [H...]: its client file, with these hosts as servers.
laptop () {
    local file=$work/$1 host key
    shift
    "$lockkeeper" client new "$file" >"$file.key" 2>/dev/null || return 1
    for host in "${@:-h1}"; do
        key=$(sed -n 's/.*public-key = "\(.*\)"/\1/p' \
            "$work/$host/state/clients-keys")
        echo "    server = \"tcp://$net.${host#h}:7412 $key\"" >>"$file"
    done
    printf '    %s\n' 'discovery = no' 'order = listed' >>"$file"
}
#   of LAPTOP VERB...: lockkeeper, there.
of () {
    local file=$work/$1
    shift
    env -u LOCKKEEPER_ENDPOINT LOCKKEEPER_CLIENT="$file" "$lockkeeper" "$@"
}
#   log_in LAPTOP ZONE USER [PASSWORD]
log_in () {
    echo "${4:-$3-secret}" >"$work/secret"
    of "$1" login --zone "$2" --user "$3" --password-file "$work/secret"
}

#   odd_clock NAME PROGRAM: makes $work/NAME.so; the wall clock of a PROGRAM
#   that loads it is two days ahead once there is $work/NAME.ahead.
odd_clock () {
    cat >"$work/$1.c" <<'END_OF_IT'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define AHEAD_S 200000
int
clock_gettime (clockid_t clock, struct timespec *at)
{
    int (*real) (clockid_t, struct timespec *) = (int (*) (
        clockid_t, struct timespec *)) dlsym (RTLD_NEXT, "clock_gettime");
    const int result = real (clock, at);
    const int error = errno;
    const char *program = program_invocation_short_name;
    if (clock == CLOCK_REALTIME && strcmp (program, PROGRAM) == 0
        && access (FILE_OF_IT, F_OK) == 0) {
        at->tv_sec += AHEAD_S;
    }
    errno = error;
    return result;
}
time_t
time (time_t *at)
{
    struct timespec now;
    clock_gettime (CLOCK_REALTIME, &now);
    if (at != NULL) {
        *at = now.tv_sec;
    }
    return now.tv_sec;
}
END_OF_IT
    ${CC:-gcc} -shared -fPIC -DPROGRAM="\"$2\"" \
        -DFILE_OF_IT="\"$work/$1.ahead\"" -o "$work/$1.so" "$work/$1.c" -ldl
}
