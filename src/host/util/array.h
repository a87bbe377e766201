/*
 * array.h - growable arrays: append one element, or extend to a length. Used by all rooms of the
 * host world.
 */
#ifndef NSC_UTIL_ARRAY_H
#define NSC_UTIL_ARRAY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Make room for one more element in an array of @count elements of @item bytes each.
 * @room: capacity in elements; updated when the array grows.
 * Returns the array, which may have moved, or NULL if out of memory: then the old array is still
 * valid.
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

/*
 * Extend an array of *@count elements of @item bytes each to at least @wanted elements. New
 * elements are zero.
 * @wanted: > 0. @count: updated when the array grows.
 * Returns the array, which may have moved, or NULL if out of memory: then the old array is still
 * valid.
 */
static inline void *nsc_array_reach(void *array, uint32_t *count, uint32_t wanted, size_t item)
{
    char *bigger;

    if (wanted <= *count)
        return array;
    bigger = reallocarray(array, wanted, item);
    if (bigger == NULL)
        return NULL;
    memset(bigger + *count * item, 0, (wanted - *count) * item);
    *count = wanted;
    return bigger;
}

#endif
