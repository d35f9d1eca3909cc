#!/bin/bash
#   hosted_others_word.sh - the same of a router that hosts the lock service
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

export LK_HOSTED=1
exec bash "$(dirname "$0")/others_word.sh"
