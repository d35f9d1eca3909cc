#   canaries_places.sh - mistakes in how leaders are spread
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Read by canaries.sh.
#   shellcheck shell=sh

canary spreads-before-the-holder 1 unit/core_choice choice.c \
    's/if (x != y) {/if (x != y \&\& lk_places_spread (choice->places, leaders, a) == lk_places_spread (choice->places, leaders, b)) {/'
canary places-move-who-sits 1 unit/core_choice choice.c \
    's/x > 0 && apart/apart/'
canary only-the-nearest-counts 1 unit/core_choice base/places.c \
    's/i < count; i++/i < count \&\& i < 1; i++/'
canary places-of-the-first-alone 1 unit/core_choice choice.c \
    's/const lk_hosts leaders = lk_decree_leaders (decree);/const lk_hosts leaders = decree->leader_count ? LK_HOST_BIT (decree->leader[0]) : 0;/'
