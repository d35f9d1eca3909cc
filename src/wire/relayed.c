/*  relayed.c - see relayed.h
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#include "wire/relayed.h"

#include "util/assert.h"
#include "wire/address.h"

#define VERSION 1

enum { AT_VERSION, AT_KIND, AT_TO_LEN, AT_FROM_LEN, HEAD_SIZE };

enum {
    AT_SENDER = 0,
    AT_RECEIVER = 8,
    AT_CHANNEL = 16,
    AT_NUMBER = 24,
    AT_HEARD = 32
};

/*  -------------------------------------------------------- outside */

/*  Takes so many bytes from the begin; false: there are not so many. */
static bool
take (lk_slice *rest, size_t size, lk_slice *taken)
{
    if (rest->size < size) {
        return false;
    }
    *taken = (lk_slice) {rest->data, size};
    *rest = (lk_slice) {rest->data + size, rest->size - size};
    return true;
}

static bool
is_box (lk_relayed_kind kind, size_t size)
{
    switch (kind) {
    case LK_RELAYED_SEALED:
        return size > LK_RELAYED_INSIDE_SIZE + LK_RELAYED_MAC_SIZE;
    case LK_RELAYED_PLAIN:
        return size > LK_RELAYED_INSIDE_SIZE;
    case LK_RELAYED_REFUSED:
        return size == 0;
    }
    return false;
}

static bool
are_hosts (const lk_relayed *self)
{
    return lk_address_is_name (self->to) && lk_address_is_name (self->from)
           && !lk_slice_equal (self->to, self->from);
}

bool
lk_relayed_read (lk_relayed *self, lk_slice body)
{
    lk_slice head, nonce = {NULL, 0};
    *self = (lk_relayed) {.box = body};
    if (!take (&self->box, HEAD_SIZE, &head)
        || head.data[AT_VERSION] != VERSION) {
        return false;
    }
    self->kind = (lk_relayed_kind) (uint8_t) head.data[AT_KIND];
    if (!take (&self->box, (uint8_t) head.data[AT_TO_LEN], &self->to)
        || !take (&self->box, (uint8_t) head.data[AT_FROM_LEN], &self->from)
        || (self->kind == LK_RELAYED_SEALED
            && !take (&self->box, LK_RELAYED_NONCE_SIZE, &nonce))) {
        return false;
    }
    self->nonce = (const uint8_t *) nonce.data;
    return are_hosts (self) && is_box (self->kind, self->box.size);
}

void
lk_relayed_begin (const lk_relayed *self, lk_bytes *out)
{
    LK_ASSERT (are_hosts (self));
    LK_ASSERT ((self->nonce != NULL) == (self->kind == LK_RELAYED_SEALED));
    char *head = lk_bytes_grow (out, HEAD_SIZE);
    head[AT_VERSION] = VERSION;
    head[AT_KIND] = (char) self->kind;
    head[AT_TO_LEN] = (char) self->to.size;
    head[AT_FROM_LEN] = (char) self->from.size;
    lk_bytes_add (out, self->to.data, self->to.size);
    lk_bytes_add (out, self->from.data, self->from.size);
    if (self->nonce != NULL) {
        lk_bytes_add (out, self->nonce, LK_RELAYED_NONCE_SIZE);
    }
}

/*  -------------------------------------------------------- inside */

bool
lk_relayed_inside_read (lk_relayed_inside *self, lk_slice inside)
{
    lk_slice head = {NULL, 0};
    if (!take (&inside, LK_RELAYED_INSIDE_SIZE, &head) || inside.size == 0) {
        return false;
    }
    *self = (lk_relayed_inside) {
        .sender = lk_bytes_get64 (head.data + AT_SENDER),
        .receiver = lk_bytes_get64 (head.data + AT_RECEIVER),
        .channel = lk_bytes_get64 (head.data + AT_CHANNEL),
        .number = lk_bytes_get64 (head.data + AT_NUMBER),
        .heard = lk_bytes_get64 (head.data + AT_HEARD),
        .frame = inside};
    return true;
}

void
lk_relayed_inside_write (const lk_relayed_inside *self, lk_bytes *out)
{
    LK_ASSERT (self->frame.size > 0);
    char *head = lk_bytes_grow (out, LK_RELAYED_INSIDE_SIZE);
    lk_bytes_put64 (head + AT_SENDER, self->sender);
    lk_bytes_put64 (head + AT_RECEIVER, self->receiver);
    lk_bytes_put64 (head + AT_CHANNEL, self->channel);
    lk_bytes_put64 (head + AT_NUMBER, self->number);
    lk_bytes_put64 (head + AT_HEARD, self->heard);
    lk_bytes_add (out, self->frame.data, self->frame.size);
}
