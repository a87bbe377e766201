/*
 * start.h - actions at the program's start: join a session, open the endpoint. Internal to
 * target/linux.
 */
#ifndef NSC_LINUX_CONTROL_START_H
#define NSC_LINUX_CONTROL_START_H

/**
 * nsc_start_once - join the session that the environment names, or that waits for a program of this
 * name; open the endpoint if the environment asks for it. Runs once per process.
 * Context: constructors; any number of threads.
 */
void nsc_start_once(void);

/** nsc_endpoint_open - start the endpoint thread, which accepts requests to record this program
 * (endpoint.c). */
void nsc_endpoint_open(void);

#endif
