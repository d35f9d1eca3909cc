#!/bin/bash
#   issuer_ldap.sh - log-ins by an LDAP server, by TLS and without
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The cases are in issuer_ldap.py.

export BUILD=${BUILD:-$PWD/build}
exec python3 "$(dirname "$0")/issuer_ldap.py"
