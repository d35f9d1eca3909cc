#!/bin/bash
#   hosted.sh - lock.sh with lock services in their routers' processes
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

exec bash "$(dirname "$0")/lock.sh" hosted
