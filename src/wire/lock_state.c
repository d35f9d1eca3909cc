/*  lock_state.c - the text form of what a lock service keeps on disk
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Does no I/O: who writes and fsyncs the file is src/net's.
 */

#include "wire/lock_state.h"
#include "wire/lock_notation.h"

#include <lockkeeper/error.h>
#include <stdio.h>
#include <string.h>

#define FORMAT 1

static void
generation_field (lk_fields *f, lk_generation *generation)
{
    char text[LK_GENERATION_TEXT_SIZE];
    lk_generation_write (generation, text);
    lk_name name = {text, (uint16_t) strlen (text)};
    lk_field_text (f, "generation", &name, sizeof text - 1);
    if (!f->writing && !lk_fields_failed (f)) {
        lk_slice_keep ((lk_slice) {name.data, name.size}, text, sizeof text);
        if (!lk_generation_read (generation, text)) {
            lk_fields_fail (f, "generation", "makes no sense");
        }
    }
}

/*  All fields, for both directions. */
static void
state_fields (lk_fields *f, lk_lock_state *state)
{
    uint8_t format = FORMAT;
    lk_name cluster = {state->cluster, (uint16_t) strlen (state->cluster)};
    lk_field_small (f, "format", &format, FORMAT);
    lk_field_hex (f, "id", &state->id);
    lk_field_text (f, "cluster", &cluster, LK_CLUSTER_LEN_MAX);
    lk_field_hosts (f, "genesis", &state->genesis);
    lk_field_term (f, "promised", &state->facts.promised);
    lk_field_decree (f, "active", &state->facts.active);
    lk_field_count (f, "session", &state->facts.session);
    if (lk_fields_has (f, "journal", state->journal > 0)) {
        lk_field_count (f, "journal", &state->journal);
    }
    if (lk_fields_has (f, "generation", state->generation.number > 0)) {
        generation_field (f, &state->generation);
    }
    lk_field_flag_if_set (f, "has_rival", &state->has_rival);
    if (f->writing || lk_fields_failed (f)) {
        return;
    }
    if (format != FORMAT) {
        lk_fields_fail (f, "format", "unknown");
    }
    lk_slice_keep ((lk_slice) {cluster.data, cluster.size}, state->cluster,
                   sizeof state->cluster);
}

static void
check_state (lk_fields *f, const lk_lock_state *state)
{
    if (!state->id) {
        lk_fields_fail (f, "id", "must not be zero");
    }
    if ((state->cluster[0] == '\0') != (state->genesis == 0)) {
        lk_fields_fail (f, "genesis", "cluster and genesis go together");
    }
    if (state->facts.promised.number < state->facts.active.term.number) {
        lk_fields_fail (f, "promised", "below the active decree's term");
    }
}

char *
lk_lock_state_encode (const lk_lock_state *self, const lk_hostmap *hostmap)
{
    lk_lock_state copy = *self;
    lk_fields fields = {.notation = &lk_notation_json,
                        .writing = true,
                        .object = json_object (),
                        .hostmap = (lk_hostmap *) hostmap};
    state_fields (&fields, &copy);
    char *text = lk_json_pretty (fields.object);
    json_decref (fields.object);
    return text;
}

lk_err
lk_lock_state_decode (const char *text, size_t size, lk_hostmap *hostmap,
                      lk_lock_state *self, char *problem, size_t problem_size)
{
    json_t *object =
        lk_json_read ((lk_slice) {text, size}, problem, problem_size);
    if (!object) {
        return LK_INVALID;
    }
    lk_arena arena;
    lk_arena_init (&arena);
    lk_lock_state read = {0};
    lk_fields fields = {.notation = &lk_notation_json,
                        .object = object,
                        .hostmap = hostmap,
                        .arena = &arena};
    state_fields (&fields, &read);
    if (!lk_fields_failed (&fields)) {
        check_state (&fields, &read);
    }
    const bool failed = lk_fields_failed (&fields);
    if (failed) {
        snprintf (problem, problem_size, "%s", fields.problem);
        lk_fields_undo (&fields);
    } else {
        *self = read;
    }
    lk_arena_clear (&arena);
    json_decref (object);
    return failed ? LK_INVALID : LK_OK;
}

/*  -------------------------------------------------------- generations */

void
lk_lock_state_enter (lk_lock_state *self, lk_hostmap *hostmap, const char *host,
                     const lk_generation *generation, uint64_t fresh_id)
{
    const lk_generation_member *own =
        lk_generation_find_former (generation, host, self->id);
    lk_hostmap_init (hostmap);
    self->genesis = 0;
    for (size_t i = 0; i < generation->count; i++) {
        const lk_generation_member *it = &generation->member[i];
        self->genesis |=
            LK_HOST_BIT (lk_hostmap_intern (hostmap, it->host, it->id));
    }
    self->id = own ? own->id : fresh_id;
    self->journal = 0;
    self->has_rival = false;
    self->generation = *generation;
    lk_generation_begin (generation, own ? self->genesis : 0, &self->facts);
}
