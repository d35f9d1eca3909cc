/*  greeter.h - the callbacks of the example service
 *
 *  Part of lockkeeper: locks for a cluster.
 *  SPDX-License-Identifier: MPL-2.0
 */

#ifndef GREETER_H
#define GREETER_H

#include <lockkeeper/service.h>

/*  All that the service knows between two callbacks. Begin with zeroes. */
typedef struct {
    lk_bus *bus;
    int64_t hosts;    /* of the cluster that are alive, this one included */
    unsigned greeted; /* since the last report */
} greeter;

/*  Its `self` is a greeter. */
extern const lk_service greeter_service;

#endif
