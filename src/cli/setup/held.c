/*  held.c - what is lost, shown to an operator, and the word to go on
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "cli/setup/held.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TYPE, HOST, OWNER, NAME, COLUMNS };

static const lk_column columns[COLUMNS] = {
    [TYPE] = {.head = "TYPE", .width = 16},
    [HOST] = {.head = "HOST", .width = 14, .whole = true},
    [OWNER] = {.head = "OWNER", .width = 16},
    [NAME] = {.head = "NAME"}};

void
lk_held_init (lk_held *self)
{
    *self = (lk_held) {
        .table = lk_columns_new (columns, COLUMNS, lk_terminal_width ())};
}

static void
add_text (lk_bytes *out, const char *text)
{
    lk_bytes_add (out, text, strlen (text));
}

/*  A word for bash: what no terminal should see is escaped. */
static void
add_quoted (lk_bytes *out, lk_name name)
{
    char escaped[8];
    bool is_plain = true;
    for (size_t i = 0; i < name.size; i++) {
        const unsigned char c = (unsigned char) name.data[i];
        is_plain = is_plain && c >= ' ' && c < 0x7f && c != '\'';
    }
    add_text (out, is_plain ? "'" : "$'");
    for (size_t i = 0; i < name.size; i++) {
        const unsigned char c = (unsigned char) name.data[i];
        if (is_plain || (c >= ' ' && c < 0x7f && c != '\'' && c != '\\')) {
            lk_bytes_add (out, &name.data[i], 1);
        } else {
            snprintf (escaped, sizeof escaped, "\\%03o", c);
            add_text (out, escaped);
        }
    }
    add_text (out, "'");
}

static void
add_command (lk_bytes *out, const lk_held_lock *it)
{
    char limit[48] = "";
    if (it->bound > 0 || it->limit > 0) {
        snprintf (limit, sizeof limit, " --%s %u",
                  it->bound > 0 ? "bound" : "semaphore",
                  it->bound > 0 ? it->bound : it->limit);
    }
    add_text (out, "    lockkeeper lock --static");
    add_text (out, strcmp (it->type, "shared") == 0 ? " --shared" : limit);
    if (it->context.size > 0) {
        add_text (out, " --context ");
        add_quoted (out, it->context);
    }
    add_text (out, it->name.size > 0 && it->name.data[0] == '-' ? " -- " : " ");
    add_quoted (out, it->name);
    add_text (out, "\n");
}

void
lk_held_add (lk_held *self, const lk_held_lock *it)
{
    char type[48];
    snprintf (type, sizeof type, "%s%s", it->type,
              it->is_static ? ",static" : "");
    lk_columns_add (self->table);
    lk_columns_set (self->table, TYPE, type);
    lk_columns_set (self->table, HOST, it->host);
    lk_columns_set (self->table, OWNER, it->owner);
    lk_columns_set_bytes (self->table, NAME, it->name.data, it->name.size);
    self->count++;
    if (it->is_static) {
        add_command (&self->again, it);
    }
}

void
lk_held_print (lk_held *self)
{
    lk_columns_print (self->table);
    lk_columns_destroy (&self->table);
    if (self->again.size > 0) {
        printf ("\nStatic locks are taken again, with other keys, by\n%.*s",
                (int) self->again.size, self->again.data);
    }
    lk_bytes_clear (&self->again);
}

bool
lk_cluster_typed (char name[LK_CLUSTER_TYPED_SIZE])
{
    if (!isatty (STDIN_FILENO)) {
        return false;
    }
    printf ("\nType the cluster's name to begin: ");
    fflush (stdout);
    if (fgets (name, LK_CLUSTER_TYPED_SIZE, stdin) == NULL) {
        putchar ('\n');
        return false;
    }
    name[strcspn (name, "\r\n")] = '\0';
    return name[0] != '\0';
}

int
lk_cluster_say_unnamed (void)
{
    return lk_cli_fail (LK_EXIT_NO, "nothing is begun: --cluster NAME does it");
}
