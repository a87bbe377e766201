/*
 * array.h - arrays that grow by one element at a time. Used by all rooms of the host world.
 */
#ifndef NSC_UTIL_ARRAY_H
#define NSC_UTIL_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

/*
 * Room for one more element in an array of @count elements of @item bytes with room for *@room.
 * Returns the array (perhaps moved), or NULL when memory is short: the old one is still valid.
 */
static inline void *nsc_array_grow(void *array, uint32_t *room, uint32_t count, size_t item)
{
    uint32_t wanted = *room < 16 ? 16 : *room * 2;
    void *bigger;

    if (count < *room)
        return array;
    if (*room > UINT32_MAX / 2)
        return NULL;
    bigger = reallocarray(array, wanted, item);
    if (bigger != NULL)
        *room = wanted;
    return bigger;
}

#endif
