/*
 * search.h - binary search in sorted arrays. Used by all rooms of the host world.
 */
#ifndef NSC_UTIL_SEARCH_H
#define NSC_UTIL_SEARCH_H

/*
 * The first index below @count for which @condition is false; @count if there is none. The result
 * has the type of @count.
 * @i: name of the index in @condition, an expression that is true up to some index and false from
 * there on, such as array[i] < key.
 */
#define NSC_PARTITION_POINT(i, count, condition)                                                   \
    __extension__({                                                                                \
        __typeof__((count) + 0) low_ = 0, high_ = (count), i;                                      \
        while (low_ < high_) {                                                                     \
            (i) = low_ + (high_ - low_) / 2;                                                       \
            if (condition)                                                                         \
                low_ = (i) + 1;                                                                    \
            else                                                                                   \
                high_ = (i);                                                                       \
        }                                                                                          \
        low_;                                                                                      \
    })

#endif
