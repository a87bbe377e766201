/*
 * input_rights.h - give an output with a made name (util/os/made_output.h) the rights of its input.
 *
 * Called with the open input, before the output is created.
 */
#ifndef NSC_UTIL_PRIVILEGES_INPUT_RIGHTS_H
#define NSC_UTIL_PRIVILEGES_INPUT_RIGHTS_H

/**
 * nsc_input_rights_allow - allow the output what the input allows other users.
 * @input: descriptor of the input.
 * @output: path of the output.
 *
 * A right of the input's group becomes one of the output's group only if they are the same. An
 * access control list may take rights away from users whom the mode does not show: then the output
 * is private. Has no effect if the user gave the output's name.
 */
void nsc_input_rights_allow(int input, const char *output);

#endif
