#   canaries_places.sh - mistakes in how leaders are spread, and made better
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Read by canaries.sh.
#   shellcheck shell=sh

#   ------------------------------------------------------------ places

canary spreads-before-the-holder 1 unit/core_choice choice.c \
    's/if (x != y) {/if (x != y \&\& lk_places_spread (choice->places, leaders, a) == lk_places_spread (choice->places, leaders, b)) {/'
canary places-move-who-sits 1 unit/core_choice choice.c \
    's/x > 0 && apart/apart/'
canary only-the-nearest-counts 1 unit/core_choice base/places.c \
    's/i < count; i++/i < count \&\& i < 1; i++/'

canary places-of-the-first-alone 1 unit/core_choice choice.c \
    's/const lk_hosts leaders = lk_decree_leaders (decree);/const lk_hosts leaders = decree->leader_count ? LK_HOST_BIT (decree->leader[0]) : 0;/'

#   ------------------------------------------------------------ better leaders

canary better-is-equal 100 storm better.c \
    's/self->lower == 0 && self->spread > self->former/self->lower == 0 \&\& self->spread >= self->former/'
canary nobody-better-comes 100 storm better.c \
    's/if (!is_calm (election)) {/if (1) {/'
canary any-of-the-others-comes 1 unit/core_choice choice.c \
    's/: host == choice->comes *? COMES/: 0 ? COMES/'
canary who-is-to-leave-stays 100 storm choice.c \
    's/if (host == choice->leaves) {/if (0) {/'
canary who-goes-gives-its-table 1 unit/core_choice choice.c \
    's/.eligible \&\& a != choice->leaves/.eligible/; s/eligible && b != choice->leaves/eligible/'
canary better-is-an-arbiter 1 unit/core_better able.c \
    's/|| !lk_able_to_lead (election, host)/|| !peer->eligible/'
canary better-at-once 1 unit/core_better better.c \
    's/core->now_ms - self->view_ms >= core->config.settle_ms/1/'
canary one-change-after-the-other 1 unit/core_better better.c \
    's/core->now_ms - self->term_ms >= core->config.steady_ms/1/'
canary leaves-without-standby 1 unit/core_better better.c \
    's/table->count < TICKETS_MAX/1/'
canary who-flaps-leads 1 unit/core_better better.c \
    's/steady->missed += steady->missed < UINT8_MAX;//'
canary a-restart-is-no-break 1 unit/core_better better.c \
    's/!was_heard || is_other/!was_heard/'
canary score-of-the-unknown 1 unit/domain src/wire/domain.c \
    's/return levels == 0 || others == 0 ? 0/return 0 ? 0/'
