#!/bin/bash
#   hosted_resumes.sh - locks go on when a router that hosts the lock service is
#   restarted
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

export LK_HOSTED=1
exec bash "$(dirname "$0")/library_resumes.sh"
