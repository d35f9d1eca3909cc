#!/bin/sh
#   canaries.sh - breaks one rule of the core at a time, and sees it noticed
#
#   Part of lockkeeper: locks for a cluster.
#   SPDX-License-Identifier: MPL-2.0
#
#   BUILD=build sh tests/sim/canaries.sh [NAME...]
#
#   Each canary is a copy of a file or two with a mistake in it (of the core, if
#   no folder is said), linked with the other objects of the simulator, which
#   has to fail within the seeds said here, of the storm or of a script; or with
#   those of a unit test (unit/NAME) or of the simulator of routers (ways), for
#   what the simulator has no part in. A mistake that can no longer be made,
#   because the code has changed, fails too, and so does one that the table in
#   lockkeeper-internals(7) lacks. Those that may need more than SEEDS_MAX seeds
#   of the storm are tried by name only, or by `make canaries`, which tries all
#   and ends with the table. With PARTS=3 each third is tried, from a random one
#   on; of the others it is only seen that the mistake can be made. Prints TAP.

cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/sim/canary.sh
. tests/sim/canary.sh

page=man/lockkeeper-internals.7

#   ------------------------------------------------------------ on disk first

canary promise-not-persisted 20 storm promise.c \
    's/lk_out_persist (election->core);//'
canary active-not-persisted 20 storm promise.c \
    's/lk_out_persist (election->core);//2'
canary session-not-persisted 60 storm proxy.c \
    's/proxy->core->facts\.session++;\n    lk_out_persist (proxy->core);/proxy->core->facts.session++;/'
canary two-votes-of-one-number 60 storm promise.c \
    's/term\.number > election->core->facts\.promised\.number;/lk_term_compare (term, election->core->facts.promised) > 0;/'
canary a-lower-term-is-accepted 20 storm promise.c \
    's/|| term\.number > election->core->facts\.promised\.number;/|| term.number > 0;/'
canary leads-what-it-promised-before 60 late-fill promise.c \
    's/&& lk_term_compare (term, election->promised_before_start) > 0;/;/'

#   ------------------------------------------------------------ decrees

canary half-is-a-quorum 60 storm decree.c \
    's,/ 2 + 1,/ 2,'
canary in-force-without-a-quorum 20 storm activation.c \
    's/if (!lk_is_quorum (election->previous/if (0 \&\& !lk_is_quorum (election->previous/; s/|| !lk_is_quorum (election->decree/\&\& !lk_is_quorum (election->decree/'
canary two-decrees-of-one-term 60 storm vote.c \
    's/election->state != LK_ELECTION_VOTING\n        || !lk_term_equal (m/!lk_term_equal (m/'
canary the-earliest-decree-counts 1000 storm choice.c \
    's/vote\[best\]\.active\.term)\n                   > 0/vote[best].active.term)\n                   < 0/'
canary no-sealing 60 voted-out serving.c \
    's/&& lk_term_equal (lead->core->facts\.promised,\n *lead->table\.decree\.term)\n           && lk_leader_place/\&\& lk_leader_place/'
canary change-off-any-decree 100 two-changes change.c \
    's/bool may = !lk_term_is_zero[^;]*;/bool may = true;/'
canary removal-by-the-old-quorum 20 last-mark activation.c \
    's/\n        || !lk_is_quorum (election->decree\.members, election->activated)//' \
    vote.c \
    's/\n        || !lk_is_quorum (members, voted)//'
canary few-leaders-for-ever 100 storm reason.c \
    's/if (!leaders_are_few (election))/if (!leaders_are_few (election) || 1)/'
canary who-is-removed-goes-on-electing 20 unit/core_election election.c \
    's/if (!is_member (election)) {/if (0) {/'
canary a-promise-keeps-old-settings 20 unit/core_settings promise.c \
    's/&& !leaves_it_out (election, decree)) {/\&\& (!leaves_it_out (election, decree) || 1)) {/'
canary takes-what-is-not-in-force 20 unit/core_settings promise.c \
    's/return lk_term_equal (decree->term, election->core->in_force\.term)\n *&& /return /'

#   ------------------------------------------------------------ settings

canary active-without-its-text 100 storm promise.c \
    's/if (!lk_settings_suffice (election, decree->settings)) {/if (0) {/' \
    election/settings.c \
    's/    LK_ASSERT (id\.version == 0 || has (&self->next, id));\n//'
canary a-text-that-is-not-written 100 storm election/settings.c \
    's/    lk_out_keep (election->core, id, text);\n}/}/'
canary an-outdated-change-is-made 600 storm change.c \
    's/bool may = self->wish == LK_WISH_SETTINGS\n *&& lk_settings_id_equal (previous->settings, self->base);/bool may = self->wish == LK_WISH_SETTINGS;/; s/    return self->wish == LK_WISH_SETTINGS\n           && !lk_settings_id_equal (election->core->in_force\.settings,\n *self->base);/    return false;/'
canary the-version-stays 60 storm change.c \
    's/event->base\.version + 1,/event->base.version + 2,/'
canary asks-for-a-text-once 300 storm election/settings.c \
    's/return election->core->now_ms - election->settings\.asked_ms >= LK_RESEND_MS;/return election->settings.asked_ms == LK_LONG_AGO;/'
canary a-damaged-text-is-not-fetched 100 storm election/settings.c \
    's/if (lk_election_lacks_settings (election)\n        && from/if (0 \&\& from/'
canary nobody-gives-a-text 60 storm election/settings.c \
    's/if (!has (text, id)) {/if (1) {/'
canary any-text-will-do 20 unit/core_settings election/settings.c \
    's/ || !fits (election->core, id, text)//'
canary leaders-without-settings 20 unit/core_settings activation.c \
    's/\n        || !leaders_have_settings (election)//'
canary an-election-for-what-was-given-up 1 unit/core_change change.c \
    's/    call_off (election);\n//'
canary settings-change-at-any-time 20 unit/core_settings change.c \
    's/core->now_ms - core->settings_ms >= SETTLE_MS/true/'
canary who-lacks-the-text-is-cut-off 20 unit/core_settings peer.c \
    's/return has_others (core, host)\n/return lk_peer_is_behind (core, host)\n/; s/if (!has_others (core, host)/if (!lk_peer_is_behind (core, host)/'
canary done-before-it-is-in-force 60 storm change.c \
    's/return self->wish == LK_WISH_SETTINGS\n *? lk_settings_id_equal (decree->settings, self->text\.id)/return self->wish == LK_WISH_SETTINGS ? lk_settings_id_equal (election->core->facts.active.settings, self->text.id)/'

#   ------------------------------------------------------------ journals

canary acknowledges-ahead-of-the-disk 20 unit/core_journal record.c \
    's/const bool waits = self->vital\[home\] > self->known\.sequence\[home\];/const bool waits = false;/'
canary what-is-kept-is-not-vital 20 unit/core_journal record.c \
    's/if (table->vital || is_sync (lead)) {/if (is_sync (lead)) {/'
canary a-late-table-holds 300 storm choice.c \
    's/return has_previous (choice, host) && !choice->vote\[host\]\.holds\.late;/return has_previous (choice, host);/'
canary goes-on-with-a-sealed-table 300 storm follow.c \
    's/ || lead->sealed) {/) {/' \
    ready.c 's/ || lead->sealed || / || /' \
    leader/check.c 's/LK_ASSERT (!lead->ready || !lead->sealed);//'
canary any-journal-is-whole 20 unit/core_journal load.c \
    's/if (lk_digest_mark (&table) == head->mark) {/if (1) {/'
canary filled-ahead-of-the-disk 20 unit/core_journal record.c \
    's/return lead->recorder\.done >= lead->recorder\.installed;/return true;/'
canary unproved-tickets-stay 20 unit/core_journal apply_reclaim.c \
    's/        lk_doubt_end (self, home);\n//'
canary a-claim-makes-no-way 20 unit/core_journal doubt.c \
    's/        if (entry->unproved\n            && !agree/        if (0 \&\& !agree/'
canary a-late-table-in-no-reclaim 20 unit/core_doorway takeover.c \
    's/if (chunk->late && !self->order\.decree\.reclaim) {/if (0) {/'
canary a-record-is-not-synced 20 unit/journal_power \
    plugins/lock/keep/journal_file.c 's/MDB_NOTLS |/MDB_NOTLS | MDB_NOSYNC |/'
canary tells-what-is-unproved 20 unit/core_journal home.c \
    's/if (has_unproved (lead, request) || /if (/'
canary each-end-is-in-good-order 300 storm record.c \
    's/head->late = !is_sync (lead) && !lead->recorder\.is_over;/head->late = false;/'
canary changes-are-not-recorded 60 storm entry.c \
    's/    self->vital |= entry->kept;\n    lk_unsaved_add (self, entry);\n    return grant;/    return grant;/'
canary what-is-gone-is-not-recorded 60 storm entry.c \
    's/    self->vital |= entry->kept;\n    lk_unsaved_add (self, entry);\n    note_shared/    note_shared/'
canary no-journal-is-waited-for 20 unit/core_journal vote.c \
    's/return config->journal != LK_JOURNAL_OFF && absent != 0/return 0/'
canary a-new-session-reports-nothing 20 unit/core_journal proxy/proxy.c \
    's/        lk_jeopardy_run (proxy);\n    }\n    report (proxy);/        lk_jeopardy_run (proxy);\n        report (proxy);\n    }/'
canary a-resume-is-read-late 20 unit/core_resume requests.c \
    's/if (request->lease_until_ms <= proxy->core->now_ms) {/if (0) {/'
canary ends-by-key-are-not-recorded 20 unit/core_journal load.c \
    's/    lk_leader_learn_releases (lead, head->releases, head->release_count);\n//'

#   ------------------------------------------------------------ filling up

canary fills-with-one-way-hearing 60 one-way-link able.c \
    's/\n            || (leader != election->core->config\.self\n[^{]*{/) {/'
canary fills-with-one-way-sight 20 one-way-link able.c \
    's/if (!lk_hosts_has (peer->sees, leader)\n            || (\(leader != election->core->config\.self[^{]*\))) {/if (\1) {/'

#   ------------------------------------------------------------ leaving

canary drained-says-eligible 20 rolling vote.c \
    's/\.eligible = may_be_elected (election)/.eligible = election->core->config.eligible/'
canary a-late-start-says-who-may-lead 1 unit/core_drain node.c \
    's/!peer->has_at || started->incarnation > peer->incarnation/1/'
canary all-drain-and-nobody-leads 100 roll-all vote.c \
    's/\n *|| (core->config\.eligible\n[^;]*;/;/'
canary drained-pings-eligible 1 unit/core_drain ping.c \
    's/lk_core_may_lead (&node->core)/node->core.config.eligible/'
canary ends-while-it-leads 20 roll-hasty left.c \
    's/return place < 0 ?/return 1 ?/'
canary ends-before-others-serve 1 unit/core_drain left.c \
    's/|| lk_sees_leaders (election->leader)/|| 1/'
canary ends-in-an-election 100 roll-all left.c \
    's/\n *\&\& lk_term_equal (core->facts\.promised, term)//'
canary the-last-holder-ends-too 20 roll-all left.c \
    's/while (place > 0) {/place = decree->leader_count;\n    &/'
canary leaves-in-a-reclaim 20 leave-in-reclaim leave.c \
    's/core->in_reclaim != 0 || //'
canary each-that-leaves-asks 1 unit/core_drain leave.c \
    's/if (find_proposer (election) == own) {/if (place >= 0) {/'
canary the-last-operation-stays-here 1 unit/core_drain stream.c \
    's/(last || is_idle/(is_idle/'
canary waits-for-who-cannot-be-elected 1 unit/core_drain left.c \
    's/\n *|| !lk_able_to_elect (election, active->members)//'
canary waits-after-a-leader-is-back 1 unit/core_proxy node.c \
    's/lk_decree_place (&node->core\.in_force, message->from) >= 0/0/'
canary draining-answers-no-lease 1 unit/core_registered registration.c \
    's/if (lk_core_is_draining (proxy->core)) { [^\n]*\n[^\n]*\n/&        return;\n/'
canary draining-registers-others 1 unit/core_registered registration.c \
    's/(!self \&\& lk_core_is_draining (proxy->core))/0/'
canary nothing-is-said-anew 1 unit/core_turns proxy.c \
    's/    lk_demand_say_all_anew (proxy);\n//'
canary nobody-else-asks 1 unit/core_drain leave.c \
    's/return place >= 0 && !lk_core_may_lead (core)/return 0/'
canary who-leaves-gives-its-table 1 unit/core_choice choice.c \
    's/if (choice->vote\[a\]\.eligible != choice->vote\[b\]\.eligible) {/if (0) {/'
canary a-stop-ahead-of-the-drain 1 unit/core_drain node.c \
    's/ \&\& !lk_drain_waits (node)//'

#   ------------------------------------------------------------ takeovers

canary amnesiac-counts-as-holding 60 storm doorway.c \
    's/\.term = lk_leader_decree (election->leader)->term,/.term = election->core->facts.active.term,/' \
    takeover.c \
    's/lk_table_is_filled (lk_leader_table (election->leader))\n               && [^;]*>= 0) {/1) {/'
canary an-old-table-is-as-good 300 storm choice.c \
    's/return !lk_term_is_zero (term)\n           && [^;]*;/return !lk_term_is_zero (term);/'
canary a-holder-in-reclaim-is-preferred 20 holder-comes-back choice.c \
    's/return !x->reclaim;/return x->reclaim;/'
canary no-rerun 20 holder-out-of-sight vote.c \
    's/if (host != LK_NOBODY) {/if (0) {/'
canary doorway-left-early 20 slow-fill takeover.c \
    's/if ((lk_decree_leaders (&self->order\.decree) & ~self->filled) == 0) {/if (1) {/'
canary takes-any-offer 60 storm transfer.c \
    's/mark == chunk->offer\n *&& //; s/mark == chunk->offer && //; s/\.hash = mark}/.hash = chunk->offer}/'
canary first-chunk-only 10 many-tickets transfer.c \
    's/chunk->more = lk_transfer_next (chunk) < count;/chunk->more = false;/'
canary ages-of-before 1 unit/core_offer delta.c \
    's/    lk_slices_add_durations (&lacks, former);\n//'
canary equal-without-the-end 100 storm delta.c \
    's/!is_as_offered (self, former)/0/; s/lk_slices_count (&wrong) > 0/0/' \
    slices.c \
    's/if (lk_slices_has (&self->slices, self->next)) {/if (lk_slices_has (\&self->slices, self->next) \&\& self->next % 2) {/'
canary a-copy-holds 20 unit/core_offer doorway.c \
    's/= lk_leader_decree (election->leader)->term,/= lk_leader_former (election->leader) ? lk_leader_former (election->leader)->decree.term : lk_leader_decree (election->leader)->term,/'
canary a-copy-needs-nobody 20 unit/core_offer leader/forget.c \
    's/ | lk_table_hosts (&lead->copy)//'
canary old-table-in-pieces 20 unit/core_offer transfer.c \
    's/lk_transfer_take (election, &self->staging, chunk);/&\n    if (chunk->onto) {\n        lk_transfer_take (election, lk_leader_table (election->leader), chunk);\n    }/'
canary stale-slices-stay 20 unit/core_slices slices.c \
    's/\n    drop (table, slices);//'
canary sums-with-hosts 20 unit/core_slices slices.c \
    's/table->shared/table->sum/'
canary sums-without-an-order 20 unit/core_slices digest.c \
    's/return lk_hash_mix (hash, digest_place (second));/return hash * 0 * digest_place (second);/'
canary bakery-as-in-snaplock 20 storm takeover.c \
    's/if ((others (election) & ~self->entered) == 0) {/if (1) {/; s/if ((lk_decree_leaders (&self->order\.decree) & ~self->filled) == 0) {/if (lk_hosts_count (self->filled) >= 2 || others (election) == 0) {/' \
    stream.c \
    's/if (place != own && self->follower\[place\]\.acked < acked) {/if (place != own \&\& self->follower[place].acked == acked) {\n            break;\n        }\n        if (0) {/'
canary reclaim-is-over-at-once 200 storm upkeep.c \
    's/&& lead->core->now_ms - lead->ready_ms\n *> lk_with_margin (/\&\& 1 + lk_with_margin (/'
canary grants-in-a-reclaim 200 storm apply_grant.c \
    's/!= home\n *|| lk_table_reclaims (self, home)) {/!= home) {/'

#   ------------------------------------------------------------ two hosts

canary each-host-is-a-quorum 60 two-hosts decree.c \
    's,/ 2 + 1,/ 2,'
canary leads-with-nobody-left 60 two-hosts serving.c \
    's/return lk_is_quorum (decree->members, fresh);/return true;/'
canary alone-it-tells-what-it-grants 60 two-hosts stream.c \
    's/if (self->committed == acked || !lk_lease_holds (lead)) {/if (self->committed == acked) {/'
canary the-hosts-take-turns 60 two-hosts date.c \
    's/return date->reason != LK_WHY_LOST/return date->reason == LK_WHY_LOST || date->reason != LK_WHY_LOST/'
canary the-other-is-not-asked-for 20 two-hosts-promised vote.c \
    's/if (host != LK_NOBODY) {/if (0) {/'
canary told-late 240 two-hosts-far proxy.c \
    's/int64_t until_ms = at + proxy->core->config/int64_t until_ms = proxy->core->now_ms + proxy->core->config/'
canary no-time-for-a-far-vote 60 two-hosts-far vote.c \
    's/#define VOTING_MS 1500/#define VOTING_MS 60/'

# shellcheck source=tests/sim/canaries_arbiters.sh
. tests/sim/canaries_arbiters.sh
# shellcheck source=tests/sim/canaries_standbys.sh
. tests/sim/canaries_standbys.sh

#   ------------------------------------------------------------ leases

canary no-margin 1000 storm core.c \
    's/return ms + ms \/ 4;/return ms * 95 \/ 100;/'
canary echo-after-a-later-promise 2000 storm stream.c \
    's/ *&& lk_term_compare (ping->promised, lead->table.decree.term) <= 0\n//'
canary reclaims-beside-a-leader 200 storm vote.c \
    's/< lk_with_margin (election->core->config.leader_lease_ms)/< 0/'
canary echo-of-another-process 20 another-boot ping.c \
    's/ || ping->echo_incarnation != node->core.incarnation//'
canary vouches-without-lease 20 heard-by-former serving.c \
    's/!lead->ready || !lk_lease_holds (lead)/!lead->ready/'
canary vouches-after-silent 100 heard-by-another serving.c \
    's/session <= peer->condemned ||/0 ||/'
canary vouches-in-a-reclaim 60 report-lost serving.c \
    's/if (lk_table_reclaims (table, home)\n            && table->reported\[home\]\[host\] != session) {/if (0) {/'
canary silent-for-a-new-leader 20 heard-by-former serving.c \
    's/return own_ms < former_ms ? former_ms : own_ms;/return own_ms;/'
canary silence-of-a-former-term 60 silent-before watch.c \
    's/group->silent_by = 0;/(void) group;/'
canary one-says-silent-for-all 200 storm upkeep.c \
    's/return (others & ~group->silent_by) == 0\n           && lk_is_silent/return lk_is_silent/'
canary time-left-from-arrival 20 unit/core_proxy home_deeds.c \
    's/reply->as_of + reply->left_ms/proxy->core->now_ms + reply->left_ms/'
canary restart-closes 500 storm closing.c \
    's/self->pending = proxy->core->incarnation - 1;/&\n    self->closed = self->pending;/'
canary predecessor-is-closed-early 200 storm closing.c \
    's/host_lease_ms\n *+ lk_stopping_ms (proxy->core);/host_lease_ms;/'
canary closed-at-once 60 storm closing.c \
    's/due_ms = proxy->core->now_ms + lk_stopping_ms (proxy->core);/due_ms = proxy->core->now_ms;/'
canary stop-does-not-wait-for-its-past 400 storm closing.c \
    's/if (proxy->core->now_ms >= self->due_ms) {/if (1) {/' \
    proxy.c \
    's/return all_given && [^;]*;/return all_given;/'

canary lease-comes-back 20 late-mark proxy.c \
    's/proxy->live && proxy->core->now_ms >= proxy->lease_until_ms) {\n        end/proxy->live \&\& proxy->core->now_ms >= proxy->lease_until_ms + 1500) {\n        end/'
canary expires-after-the-message 60 asleep node.c \
    's/\(        lk_proxy_expire (&node->proxy);\n\)\(        handle (node, event);\n\)/\2\1/'
canary library-believes-for-longer 60 storm src/client/lease.c \
    's/return lk_lease_view_until ([^;]*/& + 1000/'
canary run-kills-at-its-old-time 400 slow-holder src/client/book_life.c \
    's/? until_ms - lk_book_spare (lock)/? until_ms/; s/lease_ms \* 5/lease_ms * 4/'

#   ------------------------------------------------------------ streams

canary one-acknowledgement-for-all 60 storm stream.c \
    's/if (place != own && self->follower\[place\]\.acked < acked) {/if (place != own \&\& self->follower[place].acked == acked) {\n            break;\n        }\n        if (0) {/'
canary tells-without-lease 6000 storm stream.c \
    's/if (self->committed == acked || !lk_lease_holds (lead)) {/if (self->committed == acked) {/'
canary repeated-lock-not-confirmed 60 storm home.c \
    's/lk_home_confirm (lead, ticket, entry);/lk_notice now = {.kind = LK_NOTICE_LOCKED, .request = ticket->request, .token = entry->token};\n        lk_home_tell (lead, \&(lk_op) {.kind = LK_OP_CONFIRM}, \&(lk_notices) {\&now, 1, 1});/'
canary done-is-forgotten 1000 storm releases.c \
    's/return find (self->released, by);/return NULL;/'
canary done-is-not-handed-on 1 unit/core_release releases.c \
    's/releases\[i\]\.by\.host < LK_HOSTS_MAX/false/'
canary done-is-not-learned 1 unit/core_follow releases.c \
    's/op->kind != LK_OP_DROP && op->kind != LK_OP_CONFIRM/op->kind != LK_OP_DROP/'
canary an-unlock-is-answered-as-its-lock 1 unit/core_asked asked.c \
    's/\.unlock = demand->unlock,/.unlock = 0,/'
canary another-request-of-one-serial 1 unit/core_asked asked.c \
    's/bool same = self->rest_count == /bool same = true || self->rest_count == /; s/\&\& has_name (self, request->object);/;/'
canary earlier-end-ends-the-grace 1 unit/core_stopping stopping.c \
    's/reply->error == LK_LATE || lk_stopping_is_earlier (demand, reply)/reply->error == LK_LATE/'
canary repeated-lock-granted-twice 60 storm home.c \
    's/ || !lacks_any (lead, request)) {/ || (lacks_any (lead, request), 0)) {/' \
    apply.c \
    's/if (!lk_table_find (self, request)\n/if (1\n/'
canary last-come-first-served 60 storm grant.c \
    's/(self->first, self->pending, entry);\n        if (!self->waiting) {/(self->first, self->waiting, entry);\n        if (1) {/'
canary tickets-in-order-of-arrival 60 storm apply_grant.c \
    's/entry->number = lk_apply_stamp (self, home);/entry->number = (uint64_t) self->now_ms;/'
canary copies-in-another-order 60 storm entry.c \
    's/#include "grant.h"\n/&#include <utlist.h>\n/; s/        lk_entry_new (self, ticket, now_ms);/        lk_entry *entry = lk_entry_new (self, ticket, now_ms);\n        lk_queue *queue = entry->queue;\n        if (queue->waiting != entry \&\& entry->token == 0) {\n            DL_DELETE (queue->first, entry);\n            DL_PREPEND_ELEM (queue->first, queue->waiting, entry);\n            queue->waiting = entry;\n        }/'
canary any-key 200 storm taking.c \
    's/lk_holder_by_key (queue, ticket->key)/(queue->first->token ? queue->first : NULL)/'
canary by-key-at-once 200 storm taking.c \
    's/ask_back (lead, holder, request);/if (request->force) {\n            &\n        } else {\n            lk_home_drop (lead, holder);\n        }/'
canary no-grace 200 storm upkeep.c \
    's/entry->duration_ms + lk_grace_ms (lead->core, entry->duration_ms);/entry->duration_ms;/'
canary no-margin-in-the-grace 1 unit/core_grace core.c \
    's/end_ms = lk_with_margin (\([^;]*\));/end_ms = \1;/'
canary an-end-by-an-older-copy 1 unit/core_age apply.c \
    's/op->ticket\.age_ms) {/op->ticket.age_ms \&\& 0) {/'
canary unlocked-told-at-once 60 storm taking.c \
    's/    lk_stream_append (lead, &op);\n}/    lk_notice now = {.kind = LK_NOTICE_UNLOCKED, .request = ticket.request, .token = ticket.token};\n    lk_home_tell (lead, \&op, \&(lk_notices) {\&now, 1, 1});\n&/'

#   ------------------------------------------------------------ the shortcut

canary shortcut-without-lease 400 leaders-alone shortcut.c \
    's/ > acked || !lk_leader_is_serving (lead)\n *|| !lk_lease_holds (lead)) {/ > acked) {/'
canary shortcut-with-one-missing 60 storm shortcut.c \
    's/place != home \&\& self->acked\[place\] < acked/place > 1 \&\& self->acked[place] < acked/'
canary shortcut-of-a-confirm 300 wrong-table shortcut.c \
    's/return op->kind != LK_OP_CONFIRM \&\& /return /'
canary shortcut-of-any-chain 300 wrong-table shortcut.c \
    's/self->chain\[acked->sequence % LK_CHAIN_KEPT\] == acked->hash/1/; s/ \&\& self->ahead_hash\[place\] == hash//'
canary shortcut-of-an-older-term 20000 storm shortcut.c \
    's/self->chain\[acked->sequence % LK_CHAIN_KEPT\] == acked->hash/1/; s/ \&\& self->ahead_hash\[place\] == hash//' \
    stream.c \
    's/|| !lk_term_equal (message->term, lead->table.decree.term)) {\n        return;\n    }\n    if (acked->home != own) {/|| (acked->home == own \&\& !lk_term_equal (message->term, lead->table.decree.term))) {\n        return;\n    }\n    if (acked->home != own) {/'

#   ------------------------------------------------------------ proxies

canary session-ignored 6000 storm answers.c \
    's/&& request\.session == proxy->core->facts\.session//'
canary unlocked-before-acknowledged 60 storm app_deeds.c \
    's/lk_demand_await_unlocked (proxy, demand);/lk_demand_tell (proxy, demand, LK_ANSWER_UNLOCKED, LK_OK);/'
canary stops-at-once 400 storm proxy.c \
    's/proxy->leave_ms += lk_stopping_ms (proxy->core);//'
canary no-audit 500 storm upkeep.c \
    's/audits < AUDITS_MAX;/audits < 0;/'

#   ------------------------------------------------------------ going on

canary resumes-with-any-key 100 restarts resume.c \
    's/queue ? lk_holder_by_key (queue, asking->key) : NULL/queue \&\& queue->first->token ? queue->first : NULL/; s/(held->token == asking->token || changed)/1/'
canary resumes-what-is-anothers 200 restarts resume.c \
    's/return is_later (held, asking) && [^;]*;/return is_later (held, asking);/'
canary resumed-in-the-old-session 60 restarts entry.c \
    's/lk_group_leave (self, entry);\n    lk_group_join (self, entry, asking->request);/lk_index_remove (\&entry->group->entries, \&entry->link);\n    entry->serial = asking->request.serial;\n    lk_index_add (\&entry->group->entries, \&entry->link);/'
canary resumed-before-acknowledged 100 restarts-disturbed resume.c \
    's/lk_stream_append (lead, &op);/&\n        lk_notice now = {.kind = LK_NOTICE_LOCKED, .request = asking->request, .token = former->token, .key = former->key, .type = former->type, .ordinal = former->ordinal};\n        lk_home_tell (lead, \&op, \&(lk_notices) {\&now, 1, 1});/'
canary resumed-when-it-is-over 400 restarts-disturbed ends.c \
    's/if (is_over (proxy, demand->wait_until_ms)) {\(\n *lk_demand_end\)/if (0) {\1/'
canary unlock-ahead-of-the-resume 100 restarts-disturbed release.c \
    's/if (!entry && request->resume) {/if (0) {/'
canary resume-ends-what-was-granted 400 restarts-kinds apply.c \
    's/if (entry->type == LK_EXCLUSIVE && op->ticket.mode.type == LK_SHARED) {/if (0) {/'
canary the-place-of-who-holds 1 unit/core_sessions resume.c \
    's/queue ? queue->waiting : NULL/queue ? queue->first : NULL/'
canary told-by-who-has-stopped 12000 storm answers.c \
    's/return !proxy->halted && /return /'

#   ------------------------------------------------------------ forgotten hosts

canary forgets-who-holds 100 storm hosts.c \
    's/hosts |= LK_HOST_BIT (group->id\[0\]);/;/'
canary ended-requests-are-inherited 60 same-number leader/forget.c \
    's/forget_requests (&lead->home, host);//'
canary ended-sessions-are-inherited 60 same-number hosts.c \
    's/table->gone\[home\]\[host\] = 0;//'
canary digests-what-some-forget 100 storm digest.c \
    's/\*digest = digest_reclaim (table, home);/&\n    for (size_t host = 0; host < LK_HOSTS_MAX; host++) {\n        *digest += table->gone[home][host];\n    }/'

#   ------------------------------------------------------------ every kind

canary reader-passes-a-hard-writer 60 storm grant.c \
    's/if (!is_soft (entry) || !has_readers (queue)/if (!has_readers (queue)/
    s/scan->at = find_firm (queue);//'
canary all-pass-a-soft-writer 60 storm grant.c \
    's/scan->passing = true;/scan->passing = false;/'
canary one-unit-too-many 60 storm grant.c \
    's/queue->active < units (mode)/queue->active <= units (mode)/'
canary stored-bound-ignored 60 storm grant.c \
    's/mode->limit == 0 || (mode->bound != 0 && mode->bound < mode->limit);/mode->limit == 0;/'
canary second-definition-wins 60 storm entry.c \
    's/if (queue->bound == 0 && ticket->mode\.bound != 0) {/if (queue->bound != ticket->mode.bound) {/'
canary each-its-own-definition 60 storm entry.c \
    's/if (queue->bound == 0 && ticket[^{]*{/if (0) {/'
canary writer-beside-readers 60 storm grant.c \
    's/return queue->active == 0/& || queue->first->type == LK_SHARED/'
canary units-beside-readers 60 storm grant.c \
    's/&& type == (lk_lock_type) queue->first->type/\&\& queue->first->type != LK_EXCLUSIVE/'
canary ordinals-start-again 60 storm apply_grant.c \
    's/entry->queue->active + 1;/1;/'
canary a-unit-is-lost-with-its-host 60 storm apply_gone.c \
    's/if (drop_gone (self, others\.item\[i\], gone)) {/if (drop_gone (self, others.item[i], gone) \&\& 0) {/'
canary quiet-time-from-the-request 200 storm upkeep.c \
    's/int64_t since_ms = lk_table_shared_ms ([^;]*;/int64_t since_ms = 0;/'
canary no-quiet-time 60 storm upkeep.c \
    's/return since_ms + entry->quiet_ms + 1;/return since_ms;/'
canary set-told-with-one-missing 60 storm set.c \
    's/if (self->held < self->count) {\n        ask_next/if (self->held + 1 < self->count) {\n        ask_next/'
canary set-leaves-one-behind 200 storm set_ends.c \
    's/size_t i = 0; i < self->count; i++) {\n        if (self->member\[i\])/size_t i = 1; i < self->count; i++) {\n        if (self->member[i])/g'
canary set-has-no-time-to-stop 100 taken-away set_ends.c \
    's/lk_set_stop (proxy, set, error,/lk_set_failed (proxy, set, error,/'
canary set-in-any-order 60 storm set.c \
    's/qsort (/(void) (/'
canary going-on-forgotten 60 storm apply_grant.c \
    's/lk_apply_queue_first (self, home, lk_entry_request (self->going\[i\]),\n *notices);/(void) home, (void) notices;/'
canary going-on-elsewhere 60 storm apply_grant.c \
    's/if (entry && lk_queue_home (self, entry->queue) == home && entry->token == 0/if (entry \&\& entry->token == 0/'
canary waits-for-all-at-once 60 storm apply.c \
    's/\(            \)ticket.number = 0;\n\(            ticket.token = 0;\n\)\([^;]*;\n\)/\1ticket.number = lk_apply_stamp (self, home);\n\2\3\1lk_apply_grant (self, home, lk_table_queue (self, ticket.object), notices);\n/'

canary an-older-turn-counts 400 storm turn.c \
    's/|| reply->turn != self->sent\n *|| reply->type != self->type//'
canary told-before-it-is-kept 200 storm home_deeds.c \
    's/if (demand->ticket\.mode\.is_static && !reply->kept) {/if (0) {/'
canary kept-ends-with-its-application 200 storm app_deeds.c \
    's/if (demand->ticket\.mode\.is_static) {/if (0) {/g'
canary does-not-linger 300 storm app_deeds.c \
    's/else if (demand->linger_ms > 0) {/else if (0) {/'
canary lenient-taken-in-peace 200 storm upkeep.c \
    's/if (!queue->waiting && [^{]*{/if (0) {/'
canary lenient-dropped-by-its-home 200 storm upkeep.c \
    's/if (lk_home_is_nobodys (lead, &held)) {\n/if (1) {\n/'
canary forced-and-not-told 60 storm stopping.c \
    's/    lk_demand_answer (\n *proxy, demand,\n *(lk_answer) {.kind = demand->state/    if (reply->error != LK_FORCED)\n&/'
canary force-does-not-ask 60 storm taking.c \
    's/ask_back (lead, holder, request);/if (!request->force) {\n            &\n        } else {\n            lk_home_drop (lead, holder);\n        }/'
canary taken-without-time-to-stop 60 storm stopping.c \
    's/if (!waits) {/if (1) {/'
canary forced-is-done-early 4000 storm taking.c \
    's/ && !is_not_the_last (lead, entry)//'
canary check-finds-nobody 60 storm apply.c \
    's/&& lk_holder_by_token (queue, token)/\&\& false/'
canary check-finds-anybody 20 set-moves apply.c \
    's/&& lk_holder_by_token (queue, token)//'
canary upgrade-beside-a-reader 60 storm grant.c \
    's/return queue->active == 1 ? upgrade : NULL;/return upgrade;/'
canary others-beside-an-upgrade 60 storm grant.c \
    's/if (upgrade) {/if (upgrade \&\& queue->active == 1) {/'
canary two-wait-to-be-exclusive 60 storm apply.c \
    's/held == LK_SHARED && !lk_queue_upgrade (queue);/held == LK_SHARED;/' \
    home.c \
    's/if (upgrade && upgrade != entry) {/if (0) {/'
canary refused-as-of-two-without-one 60 storm home.c \
    's/if (upgrade && upgrade != entry) {/if (queue->waiting || (upgrade \&\& upgrade != entry)) {/'
canary upgrade-keeps-its-token 60 storm apply_grant.c \
    's/    entry->token = lk_apply_stamp (self, home);/    if (entry->token == 0) {\n        entry->token = lk_apply_stamp (self, home);\n    }/'

#   ------------------------------------------------------------ generations

canary a-generation-begins-at-once 600 storm promise.c \
    's/|| until_ms <= core->now_ms/|| until_ms > 0/'
canary a-generation-waits-for-leaders-alone 1500 storm promise.c \
    's/\n *+ core->config\.host_lease_ms);/);/'
canary who-votes-does-not-wait 20 unit/core_promise vote.c \
    's/if (lk_promise_waits_ms (election) > 0) {/if (0) {/'
canary a-former-generation-is-heard 20 unit/generation src/wire/generation.c \
    's/return LK_GENERATION_EARLIER;/return LK_GENERATION_SAME;/'
canary the-dead-go-on 300 storm src/wire/generation.c \
    's/: LK_GENERATION_RETIRE;/: LK_GENERATION_EARLIER;/'
canary terms-of-before 300 storm src/wire/generation.c \
    's/promised\.number > above\.number ? promised : above;/promised;/'
canary a-generation-keeps-its-decree 300 storm src/wire/generation.c \
    's/    \*facts = (lk_facts) {\.session = facts->session};\n//'
canary a-generation-without-settings 600 storm src/wire/generation.c \
    's/    facts->active\.settings = self->settings;\n//'
canary tokens-of-a-generation-begin-anew 300 storm apply_grant.c \
    's/decree\.term\.number << 32/decree.term.number % 65536 << 32/'
canary what-was-said-before-a-reclaim 20 unit/core_home home.c \
    's/|| is_of_before (lead, message)//'

canary downgrade-lets-nobody-in 60 storm apply.c \
    's/lk_apply_tell_locked (self, notices, entry);\n    }\n    lk_apply_grant_or_note (self, home, queue, notices);/lk_apply_tell_locked (self, notices, entry);\n    }/'
canary told-as-what-it-became 60 late-turns home_tell.c \
    's/reply->type = notice->type;/reply->type = entry->type;/'
canary late-turn-counts 60 late-turns apply.c \
    's/op->ticket\.turn <= entry->turn/op->ticket.turn == entry->turn/' \
    home.c \
    's/if (ticket->turn > entry->turn) {/if (ticket->turn != entry->turn) {/'
canary kept-goes-with-its-host 60 kept-outlives apply_gone.c \
    's/ && !entry->kept;/;/; s/ || list\[i\]->kept) {/) {/'
canary lingers-not-at-all 60 storm ends.c \
    's/return !demand->guarded && [^;]*;/return 0;/' \
    demand.c \
    's/end_ms = earlier (end_ms, demand->linger_until_ms, after_ms);/return after_ms + 1;/'

#   ------------------------------------------------------------ remote ones

canary lease-from-the-answers-arrival 400 remotes src/client/roam_place.c \
    's/letter->sent + letter->left_ms;/now_ms + letter->left_ms;/'
canary lease-for-an-older-ping 1 unit/core_registered registration.c \
    's/\.after = proxy->core->pings/.after = 0/'
canary moves-without-the-owner 400 remotes table/far.c \
    's/ && one->owner\[0\] == other->owner\[0\]\n *&& one->owner\[1\] == other->owner\[1\];/;/'
canary late-unlock-of-a-former-server 400 remotes claim.c \
    's/return far && far->id\.number <= ticket->remote\.number ? entry : NULL;/return far ? entry : NULL;/'
canary the-former-end-takes-all 400 remotes demand_send.c \
    's/    request->ticket\.request = request_id (proxy, demand);\n/&    request->ticket.remote.number += demand->ticket.remote.number \&\& demand->name[0] == LK_NO_APP ? 9 : 0;\n/'
canary granted-at-both-servers 400 remotes claim.c \
    's/    if (!former) {/    if (!former || former->token == 0) {/' apply.c \
    's/            && (ticket\.remote\.number == 0/            \&\& (1 || ticket.remote.number == 0/'
canary another-registrations-answer 400 remotes src/client/roam_lock.c \
    's/    if (!lock || lock->number != place->number) {/    if (!lock) {/'
canary believed-ahead-of-locked 400 remotes src/client/roam_lock.c \
    's/        return lock->floor_ms;/        place = lk_roam_find_place (self, lock->number);/'
canary goodbye-while-a-claim-is-open 400 remotes src/client/roam_lock.c \
    's/(lock->doubtful && lock->told_by <= number)/0/'
canary silence-after-half-of-it 400 remotes registration_parts.c \
    's/lk_with_margin (left_ms);/left_ms \/ 2;/'
canary no-end-is-remembered 1 unit/core_claim claim.c \
    's/    lk_far_id \*ended = &self->ended_far\[place_of (remote)\];/    return;\n&/'
canary taken-away-unheard 1 unit/core_registered stopping.c \
    's/ && !lk_demand_is_far (demand)//'
canary moved-is-told-too-early 1 unit/core_claim claim.c \
    's/    op\.ticket\.age_ms = former->token[^;]*;\n/&    lk_lock_message *early = lk_home_reply (lead, LK_MSG_UNLOCKED, op.by, op.ticket.object);\n    early->as.reply.moved = true;\n    lk_home_send (lead, early, op.by.host);\n/'
canary a-kept-one-stays-behind 1 unit/core_claim claim.c \
    's/return !former->unproved;/return !former->unproved \&\& !former->kept;/'
canary a-claim-ahead-of-its-ping 1 unit/core_registered registration_parts.c \
    's/    lk_demand_hold_back (proxy, demand, proxy->core->pings);\n//'
canary a-claim-starts-no-silence 1 unit/core_registered registration_parts.c \
    's/    lk_registration_stay (proxy, self,\n *may_be_left (proxy, self, request->left_ms));\n//'
canary nothing-in-doubt-is-reported 1 unit/core_registered report.c \
    's/ *|| is_in_doubt (proxy, demand)//'
canary a-moved-set-goes-on 1 unit/core_registered set_resume.c \
    's/ || self->state != LK_SET_RESUMING//'
canary counts-from-the-last-clock 1 unit/core_registered registration_parts.c \
    's/self->clock\[i\]\.heard_ms < reply->as_of/1/'
canary lock-says-no-clock 1 unit/core_registered requests.c \
    's/demand->said = request->sent/demand->said = 0/'
canary inherits-from-another-machine 1 unit/core_registered demand_maps.c \
    's/demand->ticket\.remote\.number == 0/1/'
canary goes-on-whatever-it-missed 1 unit/core_registered registration.c \
    's/if (!goes_on (proxy, term)) {/if (0) {/'
canary pings-put-off-upkeep 1 unit/core_registered node.c \
    's/    deadline = earlier (deadline, node->next_upkeep_ms);\n//'
canary a-lease-beyond-the-credential 400 remotes registration_parts.c \
    's/? 0\n *: self->until_ms - proxy->core->now_ms;/? 0 : INT64_MAX;/'
canary ends-with-its-credential-at-once 400 remotes registration_until.c \
    's/    self->cut = expired;\n/&    if (expired) {\n        lk_heap_put (\&proxy->far.silences, self, proxy->core->now_ms);\n    }\n/'
canary locks-without-a-credential 400 remotes registered.c \
    's/!lk_registration_may_hold (proxy, own\.app)/0/' \
    answers.c \
    's/!may_be_told (proxy, demand)/0/' \
    registration_until.c \
    's/    if (demand->state == LK_DEMAND_WAITING) {/    if (0) {/'
canary asks-on-without-a-credential 400 remotes registration.c \
    's/    lk_registration_stay (proxy, self, lk_registration_lease (proxy, self));\n    lk_registration_note_clock/    lk_registration_stay (proxy, self, self->lease_ms);\n    lk_registration_note_clock/'
canary a-waiting-set-moves 1 unit/roam src/client/roam_lock.c \
    's/lock->said && lock->kind\.is_set/0/'
canary a-kept-lock-is-claimed 1 unit/roam src/client/roam_lock.c \
    's/return lock->state == LK_ROAM_HELD && lock->kind\.is_static;/return 0;/'
canary a-later-token-is-not-its-own 1 unit/roam src/client/roam_lock.c \
    's/(changed && letter->token > lock->token)/0/'

#   ------------------------------------------------------------ beside the core

canary goes-by-the-monotonic-clock 1 unit/clock src/net/clock.c \
    's/CLOCK_BOOTTIME/CLOCK_MONOTONIC/'
canary sleeps-by-the-monotonic-clock 1 unit/clock src/net/loop.c \
    's/timerfd_create (CLOCK_BOOTTIME/timerfd_create (CLOCK_MONOTONIC/'
canary judges-others-once 1 unit/lock_peers plugins/lock/keep/peers.c \
    's/    \*news = LK_NEWS_NONE;\n/&    if (peer->state == LK_OTHER_ACCEPTED) {\n        return peer->state;\n    }\n/'
canary registers-any-process 1 unit/forward router/logic/session.c \
    's/if (peer\.pid > 0 && peer\.pid != pid) {/if (0) {/'
canary an-overtaken-lock-counts 1 unit/core_sessions home.c \
    's/        || is_overtaken (lead, request->ticket\.request)\n//'
canary resumes-a-later-session 1 unit/core_sessions resume.c \
    's/held->request\.session < asking/held->request.session != asking/'
canary goes-back-to-an-earlier-session 1 unit/core_sessions home.c \
    's/        || is_overtaken (lead, request->ticket\.request)\n//' \
    resume.c \
    's/held->request\.session < asking/held->request.session != asking/'

#   ------------------------------------------------------------ between steps

canary waiters-are-not-counted 20 storm entry.c \
    's/    self->waiters -= is_waiter (entry);\n//'
canary settled-is-not-counted 20 storm demand.c \
    's/    proxy->settled -= [^;]*;\n//'
canary members-forget-their-set 60 storm set_ends.c \
    's/    self->left--;\n//'
canary log-loses-what-was-committed 20 storm stream.c \
    's/self->committed++;/self->committed += 2;/'

# shellcheck source=tests/sim/canaries_routers.sh
. tests/sim/canaries_routers.sh

gather

#   ------------------------------------------------------------ the page

if [ "$wanted" = "  " ]; then
    number=$((number + 1))
    if [ -z "$lost" ]; then
        echo "ok $number - the others can be made"
    else
        echo "not ok $number - there is no place any more for:$lost"
        failed=$((failed + 1))
    fi
    number=$((number + 1))
    lacks=
    while read -r name file; do
        grep -q "^$name  *${file##*/} " "$page" || lacks="$lacks $name"
    done <"$scratch/names"
    if [ -z "$lacks" ]; then
        echo "ok $number - each canary is in $page, and its file"
    else
        echo "not ok $number - $page lacks:$lacks"
        failed=$((failed + 1))
    fi
fi
echo "1..$number"
if [ -n "${TABLE:-}" ]; then
    printf '\n%-34s %-14s %-22s %6s  %s\n' rule file where seed found
    cat "$scratch/table"
fi
[ "$failed" -eq 0 ]
