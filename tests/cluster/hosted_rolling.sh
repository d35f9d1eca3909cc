#!/bin/bash
#   hosted_rolling.sh - hosts are restarted in turn, and their routers host the
#   lock services
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

export LK_HOSTED=1
exec bash "$(dirname "$0")/rolling.sh"
