/*
 * What the trees of queue.c and vm_queue.c add to those of <bsd/sys/tree.h>.
 *
 * A node there holds the or of a field over its subtree. RB_AUGMENT mends it where the tree turns;
 * from where a node goes in or out up to the root it is the caller's to mend.
 */
#ifndef SCHED_TREE_H
#define SCHED_TREE_H

#include <bsd/sys/tree.h>

/*
 * Before RB_REMOVE(u): the deepest node whose children that changes. All others whose augmented
 * values are to be mended are above it.
 */
#define TREE_REMOVAL_START(u, link)                                                  \
    ({                                                                               \
        struct unit *start_ = RB_PARENT(u, link);                                    \
                                                                                     \
        if (RB_LEFT(u, link) && RB_RIGHT(u, link)) {                                 \
            struct unit *next_ = RB_RIGHT(u, link);                                  \
                                                                                     \
            while (RB_LEFT(next_, link))                                             \
                next_ = RB_LEFT(next_, link);                                        \
            start_ = RB_PARENT(next_, link) == (u) ? next_ : RB_PARENT(next_, link); \
        }                                                                            \
        start_;                                                                      \
    })

#endif
