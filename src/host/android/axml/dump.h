/*
 * dump.h - a document as text for people, and as JSON.
 *
 * Called by cli/. Attributes are named by their resource id where the platform has one of that id.
 */
#ifndef NSC_ANDROID_AXML_DUMP_H
#define NSC_ANDROID_AXML_DUMP_H

#include <stdio.h>

#include "android/axml/axml.h"
#include "util/text/json_writer.h"

/* Write the document as XML. Write errors stay in the stream. Returns 0 or -ENOMEM. */
int nsc_axml_dump(const struct nsc_axml *x, FILE *out);

/* Add to the open object of @j: "encoding", "namespaces", and "nodes", elements and texts in the
 * order of the document, each with its depth. Returns 0 or -ENOMEM. */
int nsc_axml_dump_json(const struct nsc_axml *x, struct nsc_json *j);

#endif
