/*
 * core_recover.h - a trace out of a core dump: what a flight recorder held when the program died,
 * and nobody was left to write it down. Called by cli/record/cmd_recover.c.
 */
#ifndef NSC_RECORD_RECORDER_CORE_RECOVER_H
#define NSC_RECORD_RECORDER_CORE_RECOVER_H

#include "record/options/recording_options.h"

/**
 * nsc_record_revive - write the trace.
 * @core: path of the core dump.
 * @options: output and compress count.
 * @result: calls, lost, threads, processes, file_bytes.
 * Names come from the modules on this machine. Returns 0 or -errno with @diag: as nsc_core_read(),
 * -EBADMSG (the memory makes no sense), -ENODATA (it holds no event), or what the file could not be
 * made for.
 */
int nsc_record_revive(const char *core, const struct nsc_record_options *options,
                      struct nsc_record_result *result, struct nsc_diag *diag);

#endif
