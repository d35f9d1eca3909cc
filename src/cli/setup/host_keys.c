/*  host_keys.c - keys of hosts are taken out of the cluster's settings
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/host_keys.h"

#include "cli/cli.h"
#include "cli/setup/settings_change.h"
#include "settings/edit.h"
#include "util/alloc.h"
#include "wire/message_frame.h"

#include <stdio.h>

#define ANSWER_MS 2000

typedef struct {
    lk_host_key key[LK_HOST_KEYS_MAX];
    char line[LK_HOST_KEYS_MAX][LK_HOST_KEY_LINE_SIZE];
    const char *kept[LK_HOST_KEYS_MAX + 1];    /* NULL behind the last */
    const char *dropped[LK_HOST_KEYS_MAX + 1]; /* likewise */
    size_t kept_count, dropped_count;
} division;

/*  Those that the router of this host accepts: settings that have none do not
 *  say which count. */
static size_t
keys_of_router (lk_requester *asker, lk_host_key keys[LK_HOST_KEYS_MAX])
{
    lk_message *question = lk_message_new ("router@.", "KEYS");
    lk_message *answer = lk_requester_ask (asker, &question, ANSWER_MS);
    lk_message *row;
    size_t count = 0;
    for (size_t i = 0; answer != NULL && count < LK_HOST_KEYS_MAX
                       && (row = lk_message_row (answer, "keys", i)) != NULL;
         i++) {
        const char *host = lk_message_text (row, "host");
        const char *key = lk_message_text (row, "key");
        if (host != NULL && key != NULL) {
            snprintf (keys[count].host, sizeof keys[count].host, "%s",
                      host[0] != '\0' ? host : LK_HOST_KEY_ANY);
            snprintf (keys[count].key, sizeof keys[count].key, "%s", key);
            count++;
        }
        lk_message_destroy (&row);
    }
    lk_message_destroy (&answer);
    return count;
}

static void
divide (division *self, size_t count, lk_host_key_fn *is_out, void *context)
{
    for (size_t i = 0; i < count; i++) {
        lk_host_key_write (&self->key[i], self->line[i]);
        if (is_out (context, &self->key[i])) {
            self->dropped[self->dropped_count++] = self->line[i];
        } else {
            self->kept[self->kept_count++] = self->line[i];
        }
    }
}

static int
drop (const division *self, lk_requester *asker, const lk_message *base)
{
    char *text = lk_edit_text (lk_message_text (base, "text"), LK_SETTING_KEY,
                               self->kept);
    const lk_settings_edit edit = {
        .base = base, .text = text, .wait_ms = LK_FOREVER};
    const int code = lk_settings_change (asker, &edit);
    lk_free (text);
    for (size_t i = 0; code == LK_EXIT_OK && i < self->dropped_count; i++) {
        printf ("withdrawn    %s\n", self->dropped[i]);
    }
    return code;
}

int
lk_host_keys_withdraw (lk_requester *asker, lk_host_key_fn *is_out,
                       void *context, size_t *count)
{
    int code = LK_EXIT_OK;
    lk_message *base = lk_settings_ask (asker, 0, &code);
    *count = 0;
    if (base == NULL) {
        return code;
    }
    division *self = lk_alloc (sizeof *self);
    size_t found =
        lk_common_settings_keys (lk_message_text (base, "text"), self->key);
    if (found == 0) {
        found = keys_of_router (asker, self->key);
    }
    divide (self, found, is_out, context);
    *count = self->dropped_count;
    if (*count > 0) {
        code = drop (self, asker, base);
    }
    lk_free (self);
    lk_message_destroy (&base);
    return code;
}
