/*  rows.c - names of locks in what people are told
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "rows.h"

#include "out.h"
#include "wire/message_frame.h"
#include "wire/object_key.h"
#include "wire/object_name.h"

#include <lockkeeper/lockkeeper.h>

#include <string.h>

void
lk_lockd_set_name (lk_message *row, const char *field, lk_name name)
{
    char text[LK_NAME_SIZE_MAX + 1];
    memcpy (text, name.data, name.size);
    text[name.size] = '\0';
    lk_message_set_text (row, field, text);
}

bool
lk_lockd_set_key (lk_message *row, lk_name key)
{
    lk_name zone, context, object;
    if (!lk_object_parts (key, &zone, &context, &object)) {
        return false;
    }
    lk_object_set (row, object);
    if (zone.size) {
        lk_lockd_set_name (row, "zone", zone);
    }
    if (context.size) {
        lk_lockd_set_name (row, "context", context);
    }
    return true;
}

bool
lk_lockd_get_key (lk_lockd *self, const lk_message *request,
                  const lk_view *view, char *room, lk_name *key)
{
    char name[LK_OBJECT_LEN_MAX];
    lk_name object;
    lk_flaw flaw;
    const char *context = lk_message_text (request, "context");
    *key = (lk_name) {0};
    if (!lk_message_has (request, "object")
        && !lk_message_has (request, "object_hex")) {
        return true;
    }
    if (lk_object_get (request, name, &object, &flaw)) {
        *key = lk_object_key (view->zone, context ? context : "", object, room,
                              LK_NAME_SIZE_MAX);
    }
    if (key->size == 0) {
        lk_lockd_fail (self, request, LK_INVALID, "that names no lock");
        return false;
    }
    return true;
}

bool
lk_lockd_shows (const lk_view *view, lk_name key)
{
    lk_name zone, context, object;
    return view->all_zones
           || (lk_object_parts (key, &zone, &context, &object)
               && zone.size == strlen (view->zone)
               && memcmp (zone.data, view->zone, zone.size) == 0);
}

lk_hosts
lk_lockd_others (const lk_lockd *self, const lk_node_status *status)
{
    return status->sees & ~LK_HOST_BIT (self->self);
}

lk_message *
lk_lockd_new_list (const lk_lockd *self, const lk_message *request)
{
    lk_message *list = lk_message_reply (request, lk_message_command (request));
    lk_message_set_text (list, "served_by", lk_bus_host (self->bus));
    if (lk_message_has (request, "id")) {
        lk_message_set_hex (list, "id", self->state.id);
    }
    return list;
}
