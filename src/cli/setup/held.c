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
    self->table = lk_columns_new (columns, COLUMNS, lk_terminal_width ());
    self->count = 0;
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
}

void
lk_held_print (lk_held *self)
{
    lk_columns_print (self->table);
    lk_columns_destroy (&self->table);
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
