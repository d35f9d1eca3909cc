#!/bin/bash
#   issuer_hosted.sh - an issuer in a router's process
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
conf=$work/lockkeeper.conf
printf '%s\n' router '    plugin = issuer' issuer "    keys = \"$work/keys\"" \
    "    authorities = \"$work/authorities\"" >"$conf"
mkdir "$work/keys" "$work/authorities"
log_has () {
    grep -qF -- "$1" "$work/log"
}
"$BUILD/lockkeeper-router" --config "$conf" --host h1 \
    --listen 'tcp://127.0.0.1:*' --endpoint "ipc://$work/router" \
    >"$work/log" 2>&1 &
router=$!
trap 'kill $router 2>/dev/null' EXIT

check 'it attaches' await log_has 'issuer: issuer: attached host=h1'
check 'and has read its files' log_has 'issuer: read keys=0 authorities=0'
printf '%s\n' authority '    type = passwords' '    file = /none' \
    >"$work/authorities/corp.conf"
"$lockkeeper" key new "$work/keys/acme.key" >/dev/null
kill -HUP "$router"
check 'it reads them again with the configuration' \
    await log_has 'issuer: read keys=1 authorities=1'
kill "$router"
check 'and ends with the router' code 0 wait "$router"
check 'having said so' log_has 'hosted: up -> down plugin=issuer code=0'
done_checking
