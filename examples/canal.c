/*  canal.c - units of resources that come and go
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Reads lines such as "acquire db 3 1", three for each of one db, and says
 *  "acquired 1", "full" or "ok":
 *
 *      lockkeeper sandbox -- ./canal
 */

#include <errno.h>
#include <inttypes.h>
#include <lockkeeper/canal.h>
#include <stdio.h>
#include <string.h>

static lk_err
acquire (lk_session *session, const char *name, uint32_t max_per,
         uint32_t resources)
{
    uint32_t ordinal;
    lk_err error =
        lk_canal_acquire (session, name, max_per, resources, &ordinal);
    if (error == LK_OK) {
        printf ("acquired %" PRIu32 "\n", ordinal);
    } else {
        printf ("%s\n", lk_err_word (error)); /* mostly: full */
    }
    return error;
}

static lk_err
release (lk_session *session, const char *name, uint32_t max_per,
         uint32_t resources)
{
    lk_err error = lk_canal_release (session, name, max_per, resources);
    printf ("%s\n", lk_err_word (error));
    return error;
}

int
main (void)
{
    char line[512], verb[16], name[256];
    uint32_t max_per, resources;
    lk_session *session = lk_session_new (NULL);
    if (session == NULL) {
        fprintf (stderr, "no router: %s\n", strerror (errno));
        return 1;
    }
    while (fgets (line, sizeof line, stdin) != NULL) {
        if (sscanf (line, "%15s %255s %" SCNu32 " %" SCNu32, verb, name,
                    &max_per, &resources)
            != 4) {
            printf ("VERB NAME MAX-PER RESOURCES\n");
        } else if (strcmp (verb, "acquire") == 0) {
            (void) acquire (session, name, max_per, resources);
        } else {
            (void) release (session, name, max_per, resources);
        }
        fflush (stdout);
    }
    lk_session_destroy (&session); /* gives back all units */
    return 0;
}
