#!/bin/bash
#   issuer_passwords.sh - log-ins by a file of passwords
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   The cases are in issuer_passwords.py.

export BUILD=${BUILD:-$PWD/build}
exec python3 "$(dirname "$0")/issuer_passwords.py"
