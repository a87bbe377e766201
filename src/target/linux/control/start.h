/*
 * start.h - what the program's start decides: is it recorded from the beginning, does it listen.
 * Internal to runtime/.
 */
#ifndef NSC_LINUX_CONTROL_START_H
#define NSC_LINUX_CONTROL_START_H

/**
 * nsc_start_once - join the session that the environment names or that waits for a program of this
 * name; open the endpoint if the environment asks for it. Once a process.
 * Context: constructors; any number of threads.
 */
void nsc_start_once(void);

/** nsc_endpoint_open - begin to listen for those who want to record this program (endpoint.c). */
void nsc_endpoint_open(void);

#endif
