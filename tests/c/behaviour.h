/*
 * behaviour.h - how a program says which behaviour it has just seen to hold. The runner makes a test of every name that
 * stands in HOLDS(...); docs/client-behaviours.md says which line of the reference each of them proves.
 */
#ifndef BEHAVIOUR_H
#define BEHAVIOUR_H

#include <stdio.h>

#define HOLDS(name) behaviour_holds(#name)

static inline void behaviour_holds(const char* name)
{
    printf("holds: %s\n", name);
    fflush(stdout);
}

#endif
