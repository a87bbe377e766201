/*
 * core_recover.h - recovers a trace from a core dump: the events that overwrite mode (flight
 * recorder) held when the program died without a recorder to write them. Called by
 * cli/record/cmd_recover.c.
 */
#ifndef NSC_RECORD_RECORDER_CORE_RECOVER_H
#define NSC_RECORD_RECORDER_CORE_RECOVER_H

#include "record/options/recording_options.h"

/**
 * nsc_record_revive - recover the session of a core dump and write its trace.
 * @core: path of the core dump.
 * @options: output and compress are used.
 * @result: calls, lost, threads, processes, file_bytes.
 * Names come from the modules on this machine. Returns 0 or -errno with @diag: as nsc_core_read(),
 * -EBADMSG (the memory is not valid), -ENODATA (it holds no event), or an error when creating the
 * file.
 */
int nsc_record_revive(const char *core, const struct nsc_record_options *options,
                      struct nsc_record_result *result, struct nsc_diag *diag);

#endif
