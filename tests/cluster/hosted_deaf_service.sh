#!/bin/bash
#   hosted_deaf_service.sh - the same of a router that hosts the lock service
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

export LK_HOSTED=1
exec bash "$(dirname "$0")/deaf_service.sh"
