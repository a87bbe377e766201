/*
 * array.h - arrays that grow, by one element at a time or to a length. Used by all rooms of the
 * host world.
 */
#ifndef NSC_UTIL_ARRAY_H
#define NSC_UTIL_ARRAY_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/*
 * An array of *@count elements of @item bytes has @wanted at least, more than none; new ones are
 * zero. Returns the array (perhaps moved), or NULL when memory is short: the old one is still
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
