/*
 * dump.h - print a document as readable XML or as JSON.
 *
 * Called by cli/. Attributes whose resource id the platform defines are named by it.
 */
#ifndef NSC_ANDROID_AXML_DUMP_H
#define NSC_ANDROID_AXML_DUMP_H

#include <stdio.h>

#include "android/axml/axml.h"
#include "util/text/json_writer.h"

/* Write the document as XML. Write errors are left in the stream. Returns 0 or -ENOMEM. */
int nsc_axml_dump(const struct nsc_axml *x, FILE *out);

/* Add to the open object of @j: "encoding", "namespaces" and "nodes" (elements and texts in
 * document order, each with its depth). Returns 0 or -ENOMEM. */
int nsc_axml_dump_json(const struct nsc_axml *x, struct nsc_json *j);

#endif
