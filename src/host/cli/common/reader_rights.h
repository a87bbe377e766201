/*
 * reader_rights.h - drop rights before reading untrusted files. Called by each command that reads
 * them.
 */
#ifndef NSC_CLI_COMMON_READER_RIGHTS_H
#define NSC_CLI_COMMON_READER_RIGHTS_H

/**
 * nsc_cli_confine - drop all rights that the command does not need; see
 * util/privileges/confine_reader.h.
 * @output: the file or folder that the command will create; NULL or "-": standard output only.
 *
 * Call it after the command line is checked and before an untrusted file is opened. The command
 * continues if the kernel does not support the restrictions.
 */
void nsc_cli_confine(const char *output);
/* The same for a command that creates no file and serves the traces over HTTP. */
void nsc_cli_confine_server(void);

#endif
