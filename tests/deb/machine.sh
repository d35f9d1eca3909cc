# shellcheck shell=bash
#   machine.sh - lockkeeper-client alone, on a Debian that has nothing else
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Sourced by try.sh, once its hosts h1 to h3 are members: the steps of
#   lockkeeper-tutorial(7), ANOTHER MACHINE, on a machine m1 at their bridge.

make_bare
cp "$(deb_of lockkeeper-client)" "$bare/root/"
in_root "$bare" 'apt-get update' >"$work/out" 2>&1
began=$(date +%s%N)
check 'a bare Debian gets lockkeeper-client' in_root "$bare" '
    apt-get install -y --no-install-recommends /root/lockkeeper-client_*.deb'
check 'which is the command, and no daemon, user or configuration' \
    in_root "$bare" '
    lockkeeper --version && ! id lockkeeper && [ ! -e /etc/lockkeeper ] &&
    ! ls /usr/bin/lockkeeper-* /lib/systemd/system/lockkeeper* \
        /usr/lib/*/liblockkeeper* 2>/dev/null | grep .'
check 'and the page to begin with' in_root "$bare" '
    zcat /usr/share/man/man7/lockkeeper-tutorial.7.gz |
        grep "ANOTHER MACHINE"'
boot_bare m1 9

keys_are_known () {
    [ "$(on h1 lockkeeper settings get router/key | wc -l)" = 3 ]
}
check 'the hosts know each other by the settings' within 20 keys_are_known
for host in $hosts; do
    check "$host: has a port for other machines" on "$host" sh -c '
        lockkeeper config set router/listen-clients "tcp://*:7412" &&
            systemctl restart lockkeeper-router'
done
check 'locks can be had' on h1 lockkeeper wait-ready
check 'm1: makes its file' on m1 sh -c '
    cd /root && lockkeeper client new client >key'
on m1 cat /root/key >"$work/m1.key"
add_m1 () {
    on h1 lockkeeper clients add m1 - <"$work/m1.key" >"$work/m1.servers" &&
        [ "$(wc -l <"$work/m1.servers")" = 3 ]
}
check 'h1: lets it in' within 20 add_m1
#   h3 first, which has its power cut below: other tests go on on h1.
{ sort -r "$work/m1.servers" && echo '    order = listed'; } \
    >>"$(root_of m1)/root/client"
#   m1 VERB...: of the command there.
m1 () {
    on m1 lockkeeper --client /root/client "$@"
}
check 'm1: a first lock' m1 run first -- true
echo "# from the package to the first lock: $((\
    ($(date +%s%N) - began) / 1000000)) ms"
on_quietly m1 lockkeeper --client /root/client run moved -- sh -c '
    echo "$LOCKKEEPER_TOKEN" >/root/token
    while :; do cut -d " " -f 1 /proc/uptime >>/root/beats; sleep 0.1; done'
#   has_moved HOST: that one serves it.
has_moved () {
    on h2 lockkeeper list | grep -E "^held +$1 .* moved$"
}
check 'm1: another one, by way of h3' within 5 has_moved h3
check 'h3 has its power cut' halt h3
check 'the lock is on another host' within 15 has_moved 'h[12]'
same_token () {
    m1 check moved "$(on m1 cat /root/token)"
}
check 'with its token' same_token
#   A lease, and a quarter.
sleep 10
check 'a lease later, too' has_moved 'h[12]'
goes_on () {
    local before
    before=$(on m1 sh -c 'wc -l </root/beats')
    sleep 1
    [ "$(on m1 sh -c 'wc -l </root/beats')" -gt "$before" ]
}
check 'and what runs under it never stopped' goes_on
check 'nobody else had it' no on h2 lockkeeper run moved --wait 0 -- true
boot h3
check 'h3 is back' within 10 is_active h3 lockd
check 'and locks can be had there' on h3 timeout 20 lockkeeper wait-ready
check 'm1 is not let in any more' on h2 lockkeeper clients remove m1
check 'which ends what it has' within 20 on h3 timeout 19 lockkeeper run \
    moved -- true
is_refused () {
    ! m1 run first -- true >"$work/refused" 2>&1 &&
        grep 'it does not know our key' "$work/refused"
}
check 'and it is told so' is_refused
check 'its command was ended' no goes_on

#   ------------------------------------------------------------ log in

check 'h2: makes a key that issues' on h2 sh -c '
    lockkeeper key new /etc/lockkeeper/issuers/acme.key &&
    printf "%s\n" authority "    type = passwords" \
        "    file = /etc/lockkeeper/authorities/corp.passwd" \
        >/etc/lockkeeper/authorities/corp.conf &&
    echo sesame | lockkeeper user add alice --authority corp --zone acme \
        --role user --password-file -'
check 'the daemon can read both, and nobody else' on h2 sh -c '
    cd /etc/lockkeeper && [ "$(stat -c "%U %a" issuers/acme.key \
        authorities/corp.passwd | sort -u)" = "lockkeeper 600" ]'
check 'h2: has a zone' within 20 on h2 lockkeeper zone add acme \
    --authority corp --issuer /etc/lockkeeper/issuers/acme.key
check 'h2: an issuer starts' on h2 systemctl enable --now lockkeeper-issuer
check 'and knows the zone' within 20 on h2 sh -c '
    journalctl -u lockkeeper-issuer | grep "issues zone=acme"'
on m1 lockkeeper client new /root/team >"$work/team.key"
cat "$work/m1.servers" >>"$(root_of m1)/root/team"
check 'm1: is nobody without a log-in' no on m1 lockkeeper \
    --client /root/team run mine --wait 0 -- true
#   log_in PASSWORD: by any of the servers.
log_in () {
    echo "$1" | on m1 lockkeeper login --client /root/team --zone acme \
        --user alice --password-file -
}
check 'm1: a wrong password is none' no log_in simsalabim
check 'm1: logs in' log_in sesame
check 'm1: has a lock of the zone' on m1 lockkeeper --client /root/team \
    run gate -- true
check 'which is not that of the hosts' holds_gate h2
check 'the journal has the log-ins' on h2 sh -c '
    journalctl -u lockkeeper-issuer >/tmp/said &&
    grep "audit: login ok who=alice zone=acme" /tmp/said &&
    grep "audit: login refused who=alice zone=acme" /tmp/said &&
    ! grep -e sesame -e simsalabim /tmp/said'
check 'h2: the issuer is restarted' on h2 systemctl restart lockkeeper-issuer
check 'and goes on' within 20 log_in sesame
kill -KILL "$(cat "$work/m1.pid")"
