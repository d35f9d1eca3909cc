/*  curve.c - see curve.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "net/curve.h"

#include "util/alloc.h"
#include "util/assert.h"

#include <czmq.h>

/*  -------------------------------------------------------- pairs */

void
lk_curve_make (lk_curve_pair *self)
{
    zcert_t *cert = zcert_new ();

    LK_ASSERT (cert);
    snprintf (self->public_key, sizeof self->public_key, "%s",
              zcert_public_txt (cert));
    snprintf (self->secret_key, sizeof self->secret_key, "%s",
              zcert_secret_txt (cert));
    zcert_destroy (&cert);
}

bool
lk_curve_raw (const char *text, unsigned char raw[LK_CURVE_RAW_SIZE])
{
    return strlen (text) == LK_CURVE_TEXT_SIZE - 1
           && zmq_z85_decode (raw, text) != NULL;
}

bool
lk_curve_is_key (const char *text)
{
    unsigned char raw[LK_CURVE_RAW_SIZE];

    return lk_curve_raw (text, raw);
}

bool
lk_curve_from_secret (lk_curve_pair *self, const char *secret_key)
{
    if (!lk_curve_is_key (secret_key)) {
        return false;
    }
    snprintf (self->secret_key, sizeof self->secret_key, "%s", secret_key);
    return zmq_curve_public (self->public_key, secret_key) == 0;
}

/*  -------------------------------------------------------- calls */

/*  A copy that is left behind has no secret. */
static void
grow (lk_curve_calls *self, size_t count)
{
    lk_curve_call *more = lk_alloc (count * sizeof *more);

    if (self->count > 0) {
        memcpy (more, self->call, self->count * sizeof *more);
        explicit_bzero (self->call, self->count * sizeof *more);
    }
    lk_free (self->call);
    self->call = more;
}

void
lk_curve_fingerprint (const char *text, char fingerprint[LK_FINGERPRINT_SIZE])
{
    unsigned char raw[LK_CURVE_RAW_SIZE];
    fingerprint[0] = '\0';
    if (lk_curve_raw (text, raw)) {
        for (size_t i = 0; 2 * i + 1 < LK_FINGERPRINT_SIZE; i++) {
            snprintf (fingerprint + 2 * i, 3, "%02x", raw[i]);
        }
    }
}

void
lk_curve_calls_add (lk_curve_calls *self, const lk_curve_call *call)
{
    grow (self, self->count + 1);
    self->call[self->count++] = *call;
}

void
lk_curve_calls_copy (lk_curve_calls *self, const lk_curve_calls *from)
{
    *self = (lk_curve_calls) {.plain = from->plain};
    for (size_t i = 0; i < from->count; i++) {
        lk_curve_calls_add (self, &from->call[i]);
    }
}

void
lk_curve_calls_clear (lk_curve_calls *self)
{
    if (self->count > 0) {
        explicit_bzero (self->call, self->count * sizeof *self->call);
    }
    lk_free (self->call);
    *self = (lk_curve_calls) {.plain = false};
}
