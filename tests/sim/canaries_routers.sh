#   canaries_routers.sh - what is broken of routers
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   Read by canaries.sh.
#   shellcheck shell=sh

canary no-end-is-told 20 ways router/logic/ways.c \
    's/tell_lost (self, link, why);/(void) tell_lost;/'
canary a-silent-host-stays 20 ways router/tables/mesh.c \
    's/heard_ms + self->dead_after_ms/heard_ms + 9 * self->dead_after_ms/g'
canary each-router-judges-privileges 20 ways router/logic/forward.c \
    's/!is_neighbours && privileged != header->privileged/privileged != header->privileged/'
canary what-came-last-leaves-first 20 ways router/tables/outbox.c \
    's/DL_APPEND (self->first/DL_PREPEND (self->first/g'
canary an-acknowledgement-hides-a-frame 20 ways router/tables/channel.c \
    's/    self->counted &= heard <= self->said;\n//'
canary a-later-number-is-passed-over 1 unit/channel router/tables/channel.c \
    's/(is_same && own != 0 && !is_ours)/(own != 0 \&\& !is_ours)/'
canary numbers-begin-at-one 1 unit/ways router/logic/router.c \
    's/identity->incarnation << CHANNELS_BITS/0/'
canary an-answer-beside-the-channel 400 ways router/logic/control.c \
    's/\n        || source->from == LK_FROM_DIALLED//'
canary a-frame-is-taken-again 20 ways router/tables/channel.c \
    's/number != self->heard + 1/number > self->heard + 1/'
canary a-gap-is-passed-over 1 unit/channel router/tables/channel.c \
    's/number != self->heard + 1/number <= self->heard/'
canary what-was-sent-is-not-kept 20 ways router/tables/channel.c \
    's/self->said = self->acked;/self->said += 0;/'
canary frames-leave-without-numbers 20 ways router/shell/flush.c \
    's/hop->channel != NULL)/hop->channel != NULL \&\& !hop->channel->numbered)/; s/give (self->shell, hop, part)/give (self->shell, hop->channel != NULL ? hop->channel->way : hop, part)/'
canary a-lost-link-is-told-later 1 unit/reached router/logic/neighbour.c \
    's/lk_router_gossip_by (self, 0)/lk_router_gossip_by (self, LK_GOSSIP_SOON_MS)/'
canary reaches-a-former-process 1 unit/reached router/tables/mesh_reach.c \
    's/ == link->incarnation/ != 0/'
canary an-arbiter-carries 1 unit/reached router/tables/mesh_reach.c \
    's/ && self->way == LK_WAY_BOTH//'
