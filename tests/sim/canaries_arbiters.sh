#   canaries_arbiters.sh - what is broken of arbiters
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Read by canaries.sh.
#   shellcheck shell=sh

canary arbiter-leads 20 two-hosts choice.c 's/ & ~choice->places->arbiters//' \
    vote.c 's/\.eligible = may_be_elected (election),/.eligible = true,/'
canary arbiter-takes-a-fill 1 unit/core_arbiter promise.c \
    's/!election->core->config\.arbiter\n *&& //'
canary tickets-to-an-arbiter 20 two-hosts home_send.c \
    's/lk_out_send (lead->core, message, host);/lk_out_broadcast (lead->core, message, lead->core->known \& ~LK_HOST_BIT (host)); lk_out_send (lead->core, message, host);/'
canary arbiter-hears-of-locks 1 unit/core_arbiter base/messages.c \
    's/return audiences\[kind\] == ALL;/return true;/'
canary arbiter-reports 60 two-hosts proxy.c \
    's/|| proxy->core->config\.arbiter//'
canary arbiter-is-vouched-for 1 unit/core_arbiter node/ping.c \
    's/if (!node->core\.config\.arbiter) {/if (1) {/'
canary arbiter-first 1 unit/core_arbiter date.c \
    's/: !is_arbiter;/: is_arbiter;/'
canary arbiter-is-left-it 1 unit/core_arbiter date.c \
    's/&& comes_before (election, asker)) {/\&\& address_before (\&election->core->peer[asker].candidate, \&election->core->config.candidate)) {/'
canary arbiter-is-waited-for 1 unit/core_arbiter vote.c \
    's/~(election->voted | election->core->places.arbiters)/~election->voted/'
canary alert-to-an-arbiter 1 unit/core_alert alert.c \
    's/& ~lead->core->places.arbiters//; s/raised->unaware &= ~lead->core->places.arbiters;//'
canary forgotten-and-an-arbiter 1 unit/core_arbiter base/places.c \
    's/self->arbiters &= ~LK_HOST_BIT (host);//'
canary no-time-for-a-far-agreement 1 unit/core_election date.c \
    's/return far_ms > AGREEMENT_MS ? far_ms : AGREEMENT_MS;/return AGREEMENT_MS;/'
canary a-far-agreement-is-overtaken 1 unit/core_voter date.c \
    's/agreement_ms (election) + VOTE_MS/AGREEMENT_MS + VOTE_MS/'
canary a-date-is-said-once 1 unit/core_election election/election.c \
    's/LK_BUSY_MS : DATE_MS/LK_BUSY_MS : INT64_MAX/'
