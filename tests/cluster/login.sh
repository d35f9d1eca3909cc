#!/bin/bash
#   login.sh - a laptop logs in, by LDAP and by a file of passwords
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

# shellcheck source=tests/cluster/cli_tap.sh
. "$(dirname "$0")/cli_tap.sh"
# shellcheck source=tests/cluster/own_hosts_tap.sh
. "$(dirname "$0")/own_hosts_tap.sh"
# shellcheck source=tests/cluster/login_tap.sh
. "$(dirname "$0")/login_tap.sh"

check 'there are users' serve_users ann bob dora
list_users carl
begin_cluster ttl=3600 'ttl=3600 renew=0'
laptop one h1
cat $work/one
log_in one acme ann
log_in one acme ann wrong
log_in one acme dora
log_in one acme zoe
log_in one nowhere ann
log_in one corp carl
of one login --show
of one run thing -- env | grep LOCKKEEPER
of one list
of one run thing -- $lockkeeper list
laptop two h2
log_in two acme bob
of two login --renew
of two run thing -- $lockkeeper list
cat $work/h1/issuer.log
tail $work/h?/router.log $work/h?/lockd.log
ls $work/h?/zones
tail $work/h?/zones/*
