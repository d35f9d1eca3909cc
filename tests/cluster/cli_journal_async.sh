#!/bin/bash
#   cli_journal_async.sh - the same, acknowledged ahead of the disk
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0

JOURNAL=async
export JOURNAL
# shellcheck source=tests/cluster/cli_journal.sh
. "$(dirname "$0")/cli_journal.sh"
