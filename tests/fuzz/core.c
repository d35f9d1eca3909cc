/*  core.c - fuzz target: bytes as what happens to lock services
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 *
 *  Up to three services: messages between them come late, twice, never, or
 *  changed by somebody hostile; applications ask; hosts stop, end between two
 *  effects, and lose their disks; time goes on or jumps. The first byte is the
 *  plan, each step is one byte and what it needs.
 */

#include "lib/core_world.h"
#include "lib/fuel.h"
#include "lib/hostile.h"
#include "util/assert.h"

#include <string.h>

#define STEPS_MAX 1500
#define CLOCK_MAX (INT64_C (1) << 46)
#define TIME_MAX (INT64_C (1) << 45) /* what the shell lets through */

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

typedef struct {
    lk_fuel fuel;
    lk_core_world core;
} world;

static lk_host
draw_place (world *self)
{
    return (lk_host) lk_fuel_below (&self->fuel, self->core.base.count);
}

/*  -------------------------------------------------------- messages */

/*  One that is on its way, comes: then, again, or not at all. */
static void
deliver (world *self, bool arrives, bool leaves)
{
    lk_core_world *core = &self->core;
    if (core->flight_count == 0) {
        return;
    }
    const size_t place = lk_fuel_byte (&self->fuel) % core->flight_count;
    const uint32_t letter = core->flight[place];
    if (leaves) {
        lk_core_world_take (core, place);
    } else {
        lk_world_keep_again (&core->base, letter);
    }
    if (arrives) {
        lk_core_world_deliver (core, lk_world_message (&core->base, letter));
    }
    lk_world_drop (&core->base, letter);
}

static void
lose_all (world *self)
{
    while (self->core.flight_count > 0) {
        lk_world_drop (&self->core.base, lk_core_world_take (&self->core, 0));
    }
}

/*  One that nobody sent so far. */
static lk_lock_message
make_fresh (lk_lock_kind kind)
{
    lk_lock_message message = {
        .kind = kind, .origin = LK_NOBODY, .destination = LK_NOBODY};
    lk_name *object = lk_hostile_object_of (&message);
    if (object != NULL) {
        *object = (lk_name) {"\0\0a", 3};
    }
    return message;
}

/*  What was said before, or was not, is said to somebody with other words. */
static void
be_hostile (world *self)
{
    lk_core_world *core = &self->core;
    static lk_hostile_room room;
    const lk_lock_kind kind =
        (lk_lock_kind) lk_fuel_below (&self->fuel, LK_MSG_COUNT);
    lk_lock_message message =
        core->has_seen[kind] ? *lk_world_message (&core->base, core->seen[kind])
                             : make_fresh (kind);
    lk_lock_message heard;
    message.from = (lk_host) (lk_fuel_byte (&self->fuel) % core->hostmap.count);
    message.to = core->base.host[draw_place (self)].config.self;
    for (size_t edits = lk_fuel_below (&self->fuel, 4); edits > 0; edits--) {
        lk_hostile_edit (&self->fuel, &message, &core->hostmap, &room);
    }
    if (message.from != message.to
        && lk_hostile_travel (&message, &core->hostmap, &heard)) {
        core->confused = true;
        lk_core_world_deliver (core, &heard);
        lk_lock_message_clear (&heard);
    }
}

/*  -------------------------------------------------------- applications */

static lk_app_request
draw_request (world *self)
{
    const uint8_t which = lk_fuel_byte (&self->fuel);
    return (lk_app_request) {.app = 1 + which % 4,
                             .serial = 1 + which / 4 % 8,
                             .pid = 77,
                             .object = lk_hostile_object (&self->fuel),
                             .owner = {"a@h1", 4}};
}

/*  What only other locks than plain exclusive ones have. */
static void
draw_kind (world *self, lk_app_request *request, lk_name rest[3])
{
    const uint8_t how = lk_fuel_byte (&self->fuel);
    request->mode = lk_hostile_mode (&self->fuel);
    request->turn = how % 4;
    request->linger_ms = how & 16 ? 100 * lk_fuel_byte (&self->fuel) : 0;
    request->key = how & 32 ? self->core.key[0].key : 0;
    if (how & 64) {
        request->rest = rest;
        request->rest_count = how / 4 % 4;
    }
    for (size_t i = 0; i < request->rest_count; i++) {
        rest[i] = lk_hostile_object (&self->fuel);
    }
}

static void
ask (world *self)
{
    const lk_host place = draw_place (self);
    lk_name rest[3];
    lk_event event = {.type = LK_ON_LOCK, .request = draw_request (self)};
    if (event.request.serial % 2 == 0) {
        draw_kind (self, &event.request, rest);
    }
    const int64_t wait = (int64_t) lk_fuel_number (&self->fuel);
    const int64_t duration = (int64_t) lk_fuel_number (&self->fuel);
    event.request.wait_ms = wait < 0 || wait > TIME_MAX ? -1 : wait;
    event.request.duration_ms =
        duration < 0 || duration > TIME_MAX ? 0 : duration;
    self->core.asked = event.request.object;
    lk_core_world_step (&self->core, place, &event);
}

static void
give_back (world *self, bool by_key)
{
    const lk_host place = draw_place (self);
    const uint8_t which = lk_fuel_byte (&self->fuel);
    const lk_core_key *known = &self->core.key[which % LK_CORE_KEYS_MAX];
    lk_event event = {.type = by_key ? LK_ON_UNLOCK_BY_KEY : LK_ON_UNLOCK,
                      .request = draw_request (self)};
    if (which & 64) {
        event.request.owner.size = 0;
    }
    if (which & 128 && known->object.size > 0) {
        event.request.key = known->key;
        event.request.object = known->object;
    } else {
        event.request.key = which / 4 % 4;
    }
    lk_core_world_step (&self->core, place, &event);
}

static void
force_or_check (world *self)
{
    const lk_host place = draw_place (self);
    const uint8_t how = lk_fuel_byte (&self->fuel);
    lk_event event = {.type = how & 1 ? LK_ON_FORCE : LK_ON_CHECK,
                      .request = draw_request (self)};
    event.request.wait_ms = how & 2 ? 100 : -1;
    event.request.token = how & 4 ? lk_fuel_number (&self->fuel) : 0;
    event.request.reason = (lk_name) {"it hangs", how & 8 ? 8 : 0};
    event.request.owner.size = 0;
    lk_core_world_step (&self->core, place, &event);
}

static void
end_application (world *self)
{
    const lk_host place = draw_place (self);
    lk_event event = {.type = LK_ON_APP_GONE,
                      .request.app = 1 + lk_fuel_byte (&self->fuel) % 4};
    lk_core_world_step (&self->core, place, &event);
}

/*  -------------------------------------------------------- hosts */

static void
lose_sight (world *self)
{
    const lk_host place = draw_place (self);
    lk_event event = {.type = LK_ON_HOST_GONE};
    event.host =
        (lk_host) (lk_fuel_byte (&self->fuel) % self->core.hostmap.count);
    if (event.host != self->core.base.host[place].config.self) {
        lk_core_world_step (&self->core, place, &event);
    }
}

static void
plain_event (world *self, lk_event_type type)
{
    lk_event event = {.type = type};
    lk_core_world_step (&self->core, draw_place (self), &event);
}

static void
change_members (world *self)
{
    const lk_host place = draw_place (self);
    const uint8_t which = lk_fuel_byte (&self->fuel);
    lk_event event = {.type = LK_ON_CHANGE,
                      .add = which & 128,
                      .host = (lk_host) (which % self->core.hostmap.count)};
    lk_core_world_step (&self->core, place, &event);
}

/*  Or no more. */
static void
drain (world *self)
{
    const lk_host place = draw_place (self);
    const uint8_t how = lk_fuel_byte (&self->fuel);
    lk_event event = {.type = LK_ON_DRAIN, .add = how & 128};
    event.until_ms = self->core.now_ms + 100 * (how & 127);
    lk_core_world_step (&self->core, place, &event);
}

static void
jump (world *self)
{
    const uint64_t ms = lk_fuel_number (&self->fuel);
    if (ms < (uint64_t) (CLOCK_MAX - self->core.now_ms)) {
        self->core.now_ms += (int64_t) ms;
    }
}

static void
step (world *self)
{
    lk_core_world *core = &self->core;
    lk_host place;
    const size_t what = lk_fuel_below (&self->fuel, 22);
    switch (what) {
    case 0:
        lk_core_world_run (core, 1 + lk_fuel_byte (&self->fuel), STEPS_MAX);
        break;
    case 1:
        lk_core_world_run (core, 25 * lk_fuel_byte (&self->fuel), STEPS_MAX);
        break;
    case 2:
        deliver (self, true, true);
        break;
    case 3:
        deliver (self, true, false);
        break;
    case 4:
        deliver (self, false, true);
        break;
    case 5:
        lose_all (self);
        break;
    case 6:
        jump (self);
        break;
    case 7:
        plain_event (self, LK_ON_TICK);
        break;
    case 8:
        ask (self);
        break;
    case 9:
    case 10:
        give_back (self, what == 10);
        break;
    case 11:
        end_application (self);
        break;
    case 12:
        lose_sight (self);
        break;
    case 13:
        plain_event (self, LK_ON_STOP);
        break;
    case 14:
        place = draw_place (self);
        lk_core_world_restart (core, place, lk_fuel_byte (&self->fuel) > 200);
        break;
    case 15:
        place = draw_place (self);
        core->base.host[place].doom = lk_fuel_byte (&self->fuel) % 16;
        break;
    case 16:
        core->cut = lk_fuel_byte (&self->fuel);
        break;
    case 17:
        be_hostile (self);
        break;
    case 18:
        change_members (self);
        break;
    case 19:
        force_or_check (self);
        break;
    case 20:
        drain (self);
        break;
    default:
        lk_core_world_introduce (core, draw_place (self));
    }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    static world self;
    static const uint8_t leaders[] = {1, 3, 5, 3};
    self.fuel = (lk_fuel) {data, size};
    const uint8_t how = lk_fuel_byte (&self.fuel);
    const lk_core_plan plan = {.services = 1 + how % LK_CORE_HOSTS_MAX,
                               .ghost = how / 3 & 1,
                               .guest = how / 6 & 1,
                               .leaders = leaders[how / 12 % 4],
                               .strict = how / 48 & 1};
    lk_core_world_init (&self.core, &plan);
    while (lk_fuel_burns (&self.fuel) && self.core.steps < STEPS_MAX) {
        step (&self);
    }
    lk_core_world_clear (&self.core);
    return 0;
}
