/*  domain.h - location domains: where a host or an application is
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Labels from the widest to the narrowest, "au.perth.dh4.rack3"; empty: not
 *  known, which is anywhere. Who looks for the nearest bubbles up: of a.b first
 *  a.b itself, then all in it (a.b.*), then a, a.*, and at last * for all.
 */

#ifndef LK_DOMAIN_H
#define LK_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>

#define LK_DOMAIN_LEN_MAX 127

/*  Whether it is one: labels of A-Z a-z 0-9 _ -, dots between them. */
bool lk_domain_is_valid (const char *text);

/*  At which step who is at `own` comes to `other`: 0 for the very same one, two
 *  for each level up, one more where it is elsewhere in there. */
size_t lk_domain_step (const char *own, const char *other);

/*  How far apart they are, for copies that are not to be lost together: levels
 *  from the first one that differs, of the longer one; 0 for the very same, and
 *  where either is not known. */
size_t lk_domain_score (const char *one, const char *other);

/*  A mask of domains: labels in which * stands for any letters, ? for one; a
 *  last label * stands for one label or more. */
bool lk_domain_mask_is_valid (const char *text);

/*  Whether the domain is one of those; "" is none. */
bool lk_domain_fits (const char *domain, const char *mask);

/*  Whether `other` is that domain, or in it; all are in the empty one. */
bool lk_domain_is_within (const char *domain, const char *other);

#endif
