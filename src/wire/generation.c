/*  generation.c - see generation.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/generation.h"

#include "wire/address.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*  -------------------------------------------------------- relations */

bool
lk_generation_equal (const lk_generation *one, const lk_generation *other)
{
    return one->number == other->number && one->id == other->id;
}

const lk_generation_member *
lk_generation_find_former (const lk_generation *self, const char *host,
                           uint64_t former)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->member[i].former == former
            && strcmp (self->member[i].host, host) == 0) {
            return &self->member[i];
        }
    }
    return NULL;
}

const lk_generation_member *
lk_generation_find (const lk_generation *self, const char *host, uint64_t id)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->member[i].id == id
            && strcmp (self->member[i].host, host) == 0) {
            return &self->member[i];
        }
    }
    return NULL;
}

/*  Protocol 9.19.3 to 9.19.6. */
lk_generation_relation
lk_generation_relate (const lk_generation *ours, const char *host, uint64_t id,
                      const lk_generation *theirs)
{
    if (lk_generation_equal (ours, theirs)) {
        return LK_GENERATION_SAME;
    }
    if (theirs->number == ours->number) {
        return LK_GENERATION_RIVAL;
    }
    if (theirs->number < ours->number) {
        return LK_GENERATION_EARLIER;
    }
    return lk_generation_find_former (theirs, host, id) ? LK_GENERATION_FOLLOW
                                                        : LK_GENERATION_RETIRE;
}

/*  Protocol 9.19.9. */
void
lk_generation_begin (const lk_generation *self, lk_hosts members,
                     lk_facts *facts)
{
    const lk_term promised = facts->promised;
    const lk_term above = {self->above, self->id};
    *facts = (lk_facts) {.session = facts->session};
    if (members == 0) {
        return;
    }
    facts->promised = promised.number > above.number ? promised : above;
    facts->active.members = members;
    facts->active.settings = self->settings;
}

/*  -------------------------------------------------------- the text */

void
lk_generation_write (const lk_generation *self,
                     char text[LK_GENERATION_TEXT_SIZE])
{
    const size_t size = LK_GENERATION_TEXT_SIZE;
    text[0] = '\0';
    if (self->number == 0) {
        return;
    }
    size_t used = (size_t) snprintf (
        text, size,
        "%" PRIu64 " %016" PRIx64 " %" PRIu64 " %" PRIu64 " %016" PRIx64
        "%016" PRIx64,
        self->number, self->id, self->above, self->settings.version,
        self->settings.hash[0], self->settings.hash[1]);
    for (size_t i = 0; i < self->count; i++) {
        const lk_generation_member *it = &self->member[i];
        used += (size_t) snprintf (text + used, size - used,
                                   " %s:%016" PRIx64 ":%016" PRIx64, it->host,
                                   it->former, it->id);
    }
}

/*  Moves *text behind it; false: there is none. */
static bool
read_member (const char **text, lk_generation_member *member)
{
    char host[LK_HOST_LEN_MAX + 1];
    int end = 0;
    if (sscanf (*text, " %63[^: ]:%16" SCNx64 ":%16" SCNx64 "%n", host,
                &member->former, &member->id, &end)
            != 3
        || !lk_address_is_name (lk_slice_of (host)) || member->id == 0) {
        return false;
    }
    memcpy (member->host, host, sizeof host);
    *text += end;
    return true;
}

static bool
read_members (lk_generation *self, const char *text)
{
    while (*text != '\0') {
        if (self->count == LK_MEMBERS_MAX
            || !read_member (&text, &self->member[self->count])) {
            return false;
        }
        self->count++;
    }
    return self->count > 0;
}

/*  Only what is written the same again was one. */
bool
lk_generation_read (lk_generation *self, const char *text)
{
    char again[LK_GENERATION_TEXT_SIZE];
    int end = 0;
    *self = (lk_generation) {.number = 0};
    if (text[0] == '\0') {
        return true;
    }
    if (sscanf (text,
                "%" SCNu64 " %16" SCNx64 " %" SCNu64 " %" SCNu64 " %16" SCNx64
                "%16" SCNx64 "%n",
                &self->number, &self->id, &self->above, &self->settings.version,
                &self->settings.hash[0], &self->settings.hash[1], &end)
            != 6
        || self->number == 0 || self->id == 0
        || self->above > LK_TERM_NUMBER_MAX
        || !read_members (self, text + end)) {
        return false;
    }
    lk_generation_write (self, again);
    return strcmp (again, text) == 0;
}
