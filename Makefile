# nanoscope: one non-recursive makefile, everything built under build/. `make help` lists the targets.
#
# Sources are found by room: src/<room>/*.c. A new file or room needs no edit here.
# Another configuration is another folder: make BUILD=build/asan SANITIZE=address,undefined
BUILD   ?= build
CC      ?= cc
HOSTCC  ?= $(CC)
AR      ?= ar
PREFIX  ?= /usr/local
VERSION := 0.1.0

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Walloca -Wconversion -Wsign-conversion \
        -Wformat=2 -Wcast-qual -Wcast-align -Wpointer-arith -Wwrite-strings -Wstrict-prototypes \
        -Wmissing-prototypes -Wold-style-definition -Wimplicit-fallthrough -Wswitch-enum \
        -Wnull-dereference -Wdouble-promotion -Wdate-time $(if $(WERROR),-Werror)
CPPFLAGS_ALL := -Iinclude -Isrc -I$(BUILD)/gen -D_GNU_SOURCE -DNSC_VERSION='"$(VERSION)"'
CFLAGS ?= -O2 -g
HOST_CFLAGS := -std=gnu17 $(WARN) -fstack-protector-strong

SANITIZE ?=
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

HOST_ROOMS := base util symbols trace record analyze formats
HOST_SRCS  := $(sort $(foreach r,$(HOST_ROOMS),$(wildcard src/$(r)/*.c)))
CLI_SRCS   := $(sort $(wildcard src/cli/*.c))
HOST_OBJS  := $(HOST_SRCS:%.c=$(BUILD)/obj/%.o)
CLI_OBJS   := $(CLI_SRCS:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gen/commands.o $(BUILD)/obj/gen/completion.o
HOST_LIBS  := -ldw -lelf -lzstd -lz -lstdc++ -lm -lpthread

HOST_LIB := $(BUILD)/obj/libnsc-host.a
BIN      := $(BUILD)/bin/nanoscope
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))

# Keep what implicit rules make on the way.
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all docs check check-unit layers fmt fmt-fix install uninstall clean help
all: $(BIN) $(HOST_LIB) docs

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14

# ---- Host world -------------------------------------------------------------------------------------

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP -c $< -o $@

$(HOST_LIB): $(HOST_OBJS)
	@mkdir -p $(@D)
	rm -f $@ && $(AR) rcs $@ $^

$(BIN): $(CLI_OBJS) $(HOST_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $(CLI_OBJS) $(HOST_LIB) $(HOST_LIBS)

# ---- From docs/man: options, table of commands, manual pages, completion (see tools/gendoc/doc.h) ---

GENDOC    := $(BUILD)/tools/gendoc
VERB_DOCS := $(sort $(wildcard docs/man/nanoscope-*.md))
VERBS     := $(VERB_DOCS:docs/man/nanoscope-%.md=%)
OPTIONS_H := $(VERBS:%=$(BUILD)/gen/cli/%_options.h)
MAN_PAGES := $(BUILD)/share/man/man1/nanoscope.1 $(VERBS:%=$(BUILD)/share/man/man1/nanoscope-%.1)
COMPLETION := $(BUILD)/share/bash-completion/completions/nanoscope \
              $(BUILD)/share/zsh/site-functions/_nanoscope

docs: $(MAN_PAGES) $(COMPLETION) ## manual pages and completion, under build/share

$(GENDOC): $(wildcard tools/gendoc/*.c tools/gendoc/*.h)
	@mkdir -p $(@D)
	$(HOSTCC) -D_GNU_SOURCE -std=gnu17 $(WARN) -O1 -g -o $@ $(filter %.c,$^)

$(BUILD)/gen/cli/%_options.h: docs/man/nanoscope-%.md $(GENDOC)
	@mkdir -p $(@D)
	$(GENDOC) header $< > $@

$(BUILD)/gen/commands.c: docs/man/nanoscope.md $(VERB_DOCS) $(GENDOC)
	@mkdir -p $(@D)
	$(GENDOC) commands docs/man/nanoscope.md $(VERB_DOCS) > $@

$(BUILD)/share/man/man1/%.1: docs/man/%.md $(GENDOC)
	@mkdir -p $(@D)
	$(GENDOC) man $(VERSION) $< > $@

$(BUILD)/share/bash-completion/completions/nanoscope: $(VERB_DOCS) $(GENDOC)
	@mkdir -p $(@D)
	$(GENDOC) bash $(VERB_DOCS) > $@

$(BUILD)/share/zsh/site-functions/_nanoscope: $(VERB_DOCS) $(GENDOC)
	@mkdir -p $(@D)
	$(GENDOC) zsh $(VERB_DOCS) > $@

# The completion scripts as C strings, for `nanoscope completion`.
$(BUILD)/gen/completion.c: $(COMPLETION)
	@mkdir -p $(@D)
	@{ echo '/* Made from docs/man: do not edit. */'; echo '#include "cli/completion.h"'; \
	   echo 'const char *const nsc_cli_completion_bash[] = {'; \
	   sed 's/[\\"]/\\&/g; s/.*/    "&",/' $(word 1,$^); echo '    0};'; \
	   echo 'const char *const nsc_cli_completion_zsh[] = {'; \
	   sed 's/[\\"]/\\&/g; s/.*/    "&",/' $(word 2,$^); echo '    0};'; } > $@

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP -c $< -o $@

$(CLI_OBJS): | $(OPTIONS_H)

# ---- Tests ------------------------------------------------------------------------------------------

$(BUILD)/tests/unit/%: tests/unit/%.c $(HOST_LIB)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) -Itests $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP $< -o $@ $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

check: check-unit ## every test

check-unit: $(UNIT_TESTS) ## unit tests
	prove -e '' $(UNIT_TESTS)

# ---- House rules ------------------------------------------------------------------------------------

layers: ## who may include whom (tools/layers.rules)
	tools/check-layers src ../tools/layers.rules

clean: ## remove build/
	rm -rf $(BUILD)

-include $(HOST_OBJS:.o=.d) $(CLI_OBJS:.o=.d) $(UNIT_TESTS:=.d)
