# nanoscope: one non-recursive makefile, everything built under build/. `make help` lists the targets.
#
# Sources are found by room: a folder of src/ with all that lies below. A new file needs no edit here.
# Another configuration is another folder: make BUILD=build/asan SANITIZE=address,undefined
BUILD   ?= build
JOBS    ?= $(shell nproc)
CC      ?= cc
HOSTCC  ?= $(CC)
AR      ?= ar
PREFIX  ?= /usr/local
VERSION := 0.1.0

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Walloca -Wconversion -Wsign-conversion \
        -Wformat=2 -Wcast-qual -Wcast-align -Wpointer-arith -Wwrite-strings -Wstrict-prototypes \
        -Wmissing-prototypes -Wold-style-definition -Wimplicit-fallthrough -Wswitch-enum \
        -Wnull-dereference -Wdouble-promotion -Wdate-time $(if $(WERROR),-Werror)
# Where #include "..." begins: in each world at its own folder and at what both share.
SHARED_ROOTS := -Iinclude -iquote src/shared
HOST_ROOTS   := $(SHARED_ROOTS) -iquote src/host
TARGET_ROOTS := $(SHARED_ROOTS) -iquote src/target
CPPFLAGS_ALL := $(HOST_ROOTS) -I$(BUILD)/gen -D_GNU_SOURCE
# cairo.h is in a folder of its own.
CAIRO_FLAGS  := -isystem /usr/include/cairo
VERSION_FLAG := -DNSC_VERSION='"$(VERSION)"'
CFLAGS ?= -O2 -g
HOST_CFLAGS := -std=gnu17 $(WARN) -fstack-protector-strong $(VERSION_FLAG)

SANITIZE ?=
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)

HOST_ROOMS := shared/base host/util host/symbols host/trace host/process host/metrics host/record \
              host/analyze host/query host/libreader host/viewer/engine host/viewer/page host/viewer/server \
              host/formats host/android
# The sources of rooms and of those inside them.
rooms = $(sort $(foreach r,$1,$(shell find src/$r -name '*.c')))
HOST_SRCS  := $(call rooms,$(HOST_ROOMS))
have_header = $(shell $(CC) $(CPPFLAGS) $(CAIRO_FLAGS) -include $1 -E -x c /dev/null >/dev/null 2>&1 && echo yes)
# Rooms for libraries that may be missing: left_out VARIABLE,ROOM is what is not compiled, without.c or
# all the rest. libmicrohttpd (`nanoscope open`), SQLite (`nanoscope query`), cairo (pages of PDF) and
# libcrypto (signatures of APKs) are loaded when they are used.
HAVE_MHD    := $(call have_header,microhttpd.h)
HAVE_SQLITE := $(call have_header,sqlite3.h)
HAVE_CAIRO  := $(call have_header,cairo-pdf.h)
HAVE_CRYPTO := $(call have_header,openssl/provider.h)
left_out = $(if $(HAVE_$1),src/$2/without.c,$(filter-out src/$2/without.c,$(call rooms,$2)))
HOST_SRCS  := $(filter-out $(call left_out,MHD,host/viewer/server/libmicrohttpd) $(call left_out,SQLITE,host/query) \
                $(call left_out,CAIRO,host/formats/pdf/cairo) $(call left_out,CRYPTO,host/android/apk/libcrypto),$(HOST_SRCS))
CPPFLAGS_ALL += $(if $(HAVE_CAIRO),$(CAIRO_FLAGS))
CLI_SRCS   := $(call rooms,host/cli)
HOST_OBJS  := $(HOST_SRCS:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/gen/assets.o
MAIN_OBJ   := $(BUILD)/obj/src/host/cli/main.o
CLI_OBJS   := $(filter-out $(MAIN_OBJ),$(CLI_SRCS:%.c=$(BUILD)/obj/%.o)) \
              $(BUILD)/obj/gen/commands.o $(BUILD)/obj/gen/completion.o
HOST_LIBS  := -ldw -lelf -lzstd -lz -lstdc++ -lm -lpthread

HOST_LIB := $(BUILD)/obj/libnsc-host.a
CLI_LIB  := $(BUILD)/obj/libnsc-cli.a
BIN      := $(BUILD)/bin/nanoscope
# Tests lie in folders as the rooms do; make check-unit ROOM=record/stack runs those of one room and what is below it.
UNIT_SRCS  := $(sort $(shell find tests/unit$(if $(ROOM),/$(ROOM)) -name 'test_*.c'))
UNIT_TESTS := $(UNIT_SRCS:tests/%.c=$(BUILD)/tests/%)

# No built-in rules: one of them would link foo from foo.s.
MAKEFLAGS += --no-builtin-rules
# Commands are shown short; V=1 shows them whole.
Q   := $(if $(V),,@)
show = $(if $(V),,@printf '  %-6s %s\n' $(1) $@)

# Keep what implicit rules make on the way.
.SECONDARY:
.DELETE_ON_ERROR:
.PHONY: all docs check check-unit check-e2e check-asan check-tsan check-arch fuzz bench bench-quick \
        layers headers fmt fmt-fix lint install uninstall dist clean help
all: $(BIN) $(HOST_LIB) public-headers docs ## program, libraries, manual pages (build/ is laid out as a prefix)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14
	@echo "variables: BUILD=$(BUILD) CC=$(CC) PREFIX=$(PREFIX) DESTDIR= WERROR=1 SANITIZE=address,undefined V=1"

# ---- Host world -------------------------------------------------------------------------------------

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP -c $< -o $@

# Which objects there are changes when a library is installed: make itself would only look at those of before.
HOST_LIST := $(BUILD)/obj/host.list
.PHONY: again
$(HOST_LIST): again
	@mkdir -p $(@D)
	@echo '$(HOST_OBJS)' | cmp -s - $@ || { echo '$(HOST_OBJS)' >$@; $(if $(HAVE_CAIRO),,\
	    echo "pdf: left out, so \`nanoscope export --format pdf\` does nothing: no cairo-pdf.h here (Debian: apt install libcairo2-dev)" >&2;) \
	    $(if $(HAVE_CRYPTO),,echo "signatures: left out, so \`nanoscope apk\` and \`inject\` cannot sign: no openssl/provider.h here (Debian: apt install libssl-dev)" >&2;) }

$(HOST_LIB): $(HOST_OBJS) $(HOST_LIST)
$(CLI_LIB): $(CLI_OBJS)
$(HOST_LIB) $(CLI_LIB):
	@mkdir -p $(@D)
	$(call show,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(BIN): $(MAIN_OBJ) $(CLI_LIB) $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS) -o $@ $^ $(HOST_LIBS)

# ---- The library that reads traces, for others -------------------------------------------------------
#
# Its own rooms and those below, compiled once more: position-independent, and nothing visible but what
# nanoscope/reader.h declares. What it does not use (the writer, tables for people) is dropped when it is linked.

READER_ROOMS := shared/base host/util host/trace host/analyze host/libreader
READER_OBJS  := $(patsubst %.c,$(BUILD)/reader/%.o,$(call rooms,$(READER_ROOMS)))
READER_SONAME := libnanoscope-reader.so.1
READER_LIB   := $(BUILD)/lib/libnanoscope-reader.so
READER_PRODUCTS := $(READER_LIB) $(BUILD)/lib/libnanoscope-reader.a $(BUILD)/lib/pkgconfig/nanoscope-reader.pc
OBJCOPY ?= $(CROSS)objcopy

.PHONY: reader
all: reader
reader: $(READER_PRODUCTS) ## libnanoscope-reader: reads traces for others

$(BUILD)/reader/%.o: %.c
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -fPIC -fvisibility=hidden \
	    -ffunction-sections -fdata-sections -MMD -MP -c $< -o $@

$(BUILD)/lib/$(READER_SONAME): $(READER_OBJS) src/host/libreader/libnanoscope-reader.map
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--gc-sections -Wl,-z,defs,-z,text \
	    -Wl,-z,now,-z,relro,-z,noexecstack -Wl,--version-script=src/host/libreader/libnanoscope-reader.map -o $@ $(READER_OBJS) -lzstd

$(READER_LIB): $(BUILD)/lib/$(READER_SONAME)
	$(Q)ln -sf $(READER_SONAME) $@

# One member, so that its inner names can be made local; what they do not reach is dropped.
READER_NAMES = $(shell sed -n 's/^ *\(nanoscope_[a-z_]*\);/\1/p' src/host/libreader/libnanoscope-reader.map)
$(BUILD)/lib/libnanoscope-reader.a: $(READER_OBJS) src/host/libreader/libnanoscope-reader.map
	@mkdir -p $(@D)
	$(call show,AR)
	$(Q)$(CC) -nostdlib -r -Wl,--gc-sections $(READER_NAMES:%=-Wl,-u,%) -o $(BUILD)/reader/libnanoscope-reader.o $(READER_OBJS)
	$(Q)$(OBJCOPY) --localize-hidden $(BUILD)/reader/libnanoscope-reader.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/reader/libnanoscope-reader.o

$(BUILD)/lib/pkgconfig/nanoscope-reader.pc: src/host/libreader/nanoscope-reader.pc.in Makefile
	@mkdir -p $(@D)
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< > $@

-include $(READER_OBJS:.o=.d)

# The folder of public headers is laid out as it will be when installed: `nanoscope cc` looks there.
PUBLIC_HEADERS := $(patsubst include/%,$(BUILD)/include/%,$(wildcard include/nanoscope/*.h))
.PHONY: public-headers
public-headers: $(PUBLIC_HEADERS)
$(BUILD)/include/%: include/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

# ---- The web client ---------------------------------------------------------------------------------
#
# One for all configurations. Without node it is left out, and tried again by the next make.

VIEWER      := build/viewer
VIEWER_SRCS := $(wildcard viewer/*.json) $(shell find viewer/src -type f)

.PHONY: viewer
viewer: $(VIEWER_SRCS) ## the web client of `nanoscope open`
	tools/viewer build $(VIEWER)
	@touch $(VIEWER)/built

all: $(VIEWER)/built
$(VIEWER)/built: $(VIEWER_SRCS) tools/viewer
	@mkdir -p $(@D)
	$(call show,VIEWER)
	$(Q)tools/viewer build $(VIEWER) && touch $@ || { s=$$?; rm -rf $(VIEWER)/dist; [ $$s -eq 3 ]; }

# ---- The engine in the page -------------------------------------------------------------------------
#
# src/host/viewer/engine and what it uses, as WebAssembly: one for all configurations. What writes traces is not
# reached from it and left out by the linker; those that this library could not even compile, by name.

WASM_CC    ?= clang
WASM       := build/wasm
WASM_FLAGS := --target=wasm32-wasi
WASM_SRCS  := $(filter-out src/host/util/os/% src/host/util/privileges/% src/host/trace/zstd/% src/host/trace/write/%, \
                $(call rooms,host/viewer/wasm host/viewer/engine host/analyze host/trace host/util shared/base))
WASM_OBJS  := $(WASM_SRCS:%.c=$(WASM)/%.o)
# It must link, too; the linker would replace /dev/null.
HAVE_WASM  := $(shell t=$$(mktemp) && \
                $(WASM_CC) $(WASM_FLAGS) -mexec-model=reactor -include stdlib.h -x c -o $$t /dev/null >/dev/null 2>&1 && echo yes; rm -f "$$t")
ENGINE     := $(if $(HAVE_WASM),$(WASM)/engine.wasm)

$(WASM)/%.o: %.c
	@mkdir -p $(@D)
	$(call show,WASM)
	$(Q)$(WASM_CC) $(WASM_FLAGS) $(HOST_ROOTS) -D_GNU_SOURCE -std=gnu17 $(WARN) $(VERSION_FLAG) -O2 -MMD -MP -c $< -o $@

# Sizes have 32 bits there. They are checked where they come in (NSC_FORMAT_PLAIN_MAX, nsc_span_take()) and where
# memory is asked for (reallocarray()), so that the warning finds nothing else.
$(WASM)/%.o: WARN += -Wno-shorten-64-to-32

# The library's own stack of 64 KiB would run into the data.
$(WASM)/engine.wasm: $(WASM_OBJS)
	$(call show,LINK)
	$(Q)$(WASM_CC) $(WASM_FLAGS) -mexec-model=reactor -Wl,--gc-sections,-s,-z,stack-size=1048576,--stack-first -o $@ $^

# As with HOST_LIST: the compiler may come later.
$(VIEWER)/page.list: again
	@mkdir -p $(@D)
	@echo '$(ENGINE)' | cmp -s - $@ || echo '$(ENGINE)' >$@

# What exported pages begin with. Without compiler or client, nothing.
$(VIEWER)/page.html: $(VIEWER)/built viewer/page.mjs $(ENGINE) $(VIEWER)/page.list
	$(call show,PAGE)
	$(Q)rm -f $@
	$(Q)$(if $(ENGINE),[ ! -d $(VIEWER)/dist ] || tools/viewer page $(VIEWER) $(ENGINE), \
	    echo "page: left out, so \`nanoscope export --format html\` does nothing: no compiler for WebAssembly (Debian: apt install $$(echo $$(tools/deps --list page)))" >&2)
	@[ -e $@ ] || : >$@

$(BUILD)/gen/assets.c: $(VIEWER)/page.html tools/embed-viewer
	@mkdir -p $(@D)
	$(Q)tools/embed-viewer $(VIEWER) "$(ENGINE)" $@

# ---- Traced world -----------------------------------------------------------------------------------
#
# What runs inside other people's programs: no libc, no vector registers, no start-up code. These flags
# are part of its design (docs/adr/002, 003), so CFLAGS and SANITIZE do not reach it.

IS_CLANG      := $(findstring clang,$(shell $(CC) --version))
ISA           := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
# x86-64: no endbr64 where nobody jumps. AArch64: no calls into libgcc for atomics.
TRACED_CFLAGS_x86_64  := -fcf-protection=none
TRACED_CFLAGS_aarch64 := -mno-outline-atomics
TRACED_CFLAGS := -std=gnu17 $(WARN) -O2 -g -fPIC -fvisibility=hidden -mgeneral-regs-only \
                 -ffreestanding -fno-builtin -fno-stack-protector -ftls-model=initial-exec \
                 $(if $(IS_CLANG),,-fno-tree-loop-distribute-patterns) $(TRACED_CFLAGS_$(ISA)) \
                 -fomit-frame-pointer -Wframe-larger-than=2048
ARCH          := target/arch/$(ISA)
TRACED_ROOMS  := $(addprefix target/linux/,sys session patch events control interpose) $(ARCH)
TRACED_SRCS   := $(call rooms,$(TRACED_ROOMS)) $(addprefix src/$(ARCH)/,control_call.S header_hook_slow.S)
TRACED_OBJS   := $(addsuffix .o,$(basename $(TRACED_SRCS:%=$(BUILD)/traced/%)))
MODULE_OBJS   := $(addprefix $(BUILD)/traced/src/,target/hooks/module_announce.o $(ARCH)/sled_hook.o $(ARCH)/patchable_entry_hook.o)
# Wrap functions of libc and libstdc++, which a static program cannot have twice.
SHARED_ONLY   := $(BUILD)/traced/src/target/linux/interpose/%
# Counts calls of malloc; preloaded by `record --memory`.
MALLOC_OBJS   := $(patsubst %.c,$(BUILD)/traced/%.o,$(call rooms,target/linux/malloc target/linux/sys))
TRACED_PRODUCTS := $(BUILD)/lib/libnanoscope.so $(BUILD)/lib/libnanoscope-malloc.so $(BUILD)/lib/libnanoscope.a $(BUILD)/lib/nanoscope-module.o \
                   $(if $(filter x86_64,$(ISA)),$(BUILD)/lib/nanoscope-gcc.specs $(BUILD)/lib/nanoscope-gcc.specs.s) \
                   $(BUILD)/lib/nanoscope_hook.h $(BUILD)/lib/pkgconfig/nanoscope.pc

.PHONY: runtime check-nm
all: runtime
runtime: $(TRACED_PRODUCTS) ## what gets linked into traced programs

$(BUILD)/traced/%.o: %.c
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(CC) $(TARGET_ROOTS) -D_GNU_SOURCE $(TRACED_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/traced/%.o: %.S
	@mkdir -p $(@D)
	$(call show,AS)
	$(Q)$(CC) $(TARGET_ROOTS) -g -MMD -MP -c $< -o $@

$(BUILD)/lib/libnanoscope.so: $(TRACED_OBJS) src/target/linux/libnanoscope.map
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) -shared -nostdlib -Wl,-soname,$(@F) -Wl,-z,nodelete,-z,text,-z,now,-z,relro,-z,noexecstack \
	    -Wl,--version-script=src/target/linux/libnanoscope.map -o $@ $(TRACED_OBJS)

$(BUILD)/lib/libnanoscope-malloc.so: $(MALLOC_OBJS)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) -shared -nostartfiles -Wl,-soname,$(@F) -Wl,-z,text,-z,now,-z,relro,-z,noexecstack -o $@ $^ -ldl

# One member: a program's weak references (nanoscope.h) do not fetch members of their own.
$(BUILD)/traced/libnanoscope.o: $(filter-out $(SHARED_ONLY),$(TRACED_OBJS))
	$(call show,LINK)
	$(Q)$(CC) -nostdlib -r -o $@ $^

$(BUILD)/lib/libnanoscope.a: $(BUILD)/traced/libnanoscope.o
	@mkdir -p $(@D)
	$(call show,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/lib/nanoscope-module.o: $(MODULE_OBJS)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) -nostdlib -r -o $@ $^

# Calls that do nothing, to measure what they cost; for this processor only.
CALIBRATE := $(BUILD)/lib/nanoscope-calibrate
all: $(CALIBRATE)
$(CALIBRATE): src/target/hooks/calibrate.c $(BIN) $(TRACED_PRODUCTS)
	$(call show,LINK)
	$(Q)NANOSCOPE_CC="$(CC)" $(BIN) cc -O2 -o $@ $<

# As cc_plan.c has them.
CLANG_ENTRIES_x86_64 := \ -fxray-instrumentation-bundle=function-exit -Xclang -fpatchable-function-entry=5
$(BUILD)/lib/pkgconfig/nanoscope.pc: src/target/hooks/nanoscope.pc.in
	@mkdir -p $(@D)
	$(Q)sed 's/@VERSION@/$(VERSION)/; s/@CLANG_ENTRIES@/$(CLANG_ENTRIES_$(ISA))/' $< > $@

$(BUILD)/lib/%: src/target/hooks/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

# Where `nanoscope cc` looks when the compiler is one for that processor; `make install` installs it too.
.PHONY: target
TARGET_ISA = $(firstword $(subst -, ,$(notdir $(CROSS))))
target: ## CROSS=aarch64-linux-gnu-: the runtime for another processor, too (before install)
	$(if $(CROSS),,$(error which processor? make target CROSS=aarch64-linux-gnu-))
	$(MAKE) BUILD=$(BUILD)/$(TARGET_ISA) CC=$(CROSS)gcc CROSS=$(CROSS) runtime
	@mkdir -p $(BUILD)/lib/$(TARGET_ISA)
	find $(BUILD)/$(TARGET_ISA)/lib -maxdepth 1 -type f -exec cp {} $(BUILD)/lib/$(TARGET_ISA) \;

check-nm: runtime ## what the runtime imports, and what its fast path must not contain
	BUILD=$(BUILD) CROSS=$(CROSS) tools/check-traced

-include $(sort $(TRACED_OBJS:.o=.d) $(MALLOC_OBJS:.o=.d)) $(MODULE_OBJS:.o=.d)

# ---- The library in an APK --------------------------------------------------------------------------
#
# For Android's four processors, with clang and lld and without the NDK: its C library and log are
# declared by ourselves (bionic.h), and what is imported of them comes from libraries of empty
# functions. No TLS: older platforms have none. Without clang or lld it is left out.

APP_CC      ?= clang
APP_ABIS    := arm64-v8a armeabi-v7a x86_64 x86
APP_TARGET_arm64-v8a   := aarch64-linux-android21
APP_TARGET_armeabi-v7a := armv7a-linux-androideabi21
APP_TARGET_x86_64      := x86_64-linux-android21
APP_TARGET_x86         := i686-linux-android21
# AArch64: no calls into libgcc for atomics.
APP_FLAGS_arm64-v8a    := -mno-outline-atomics
APP_FLAGS_armeabi-v7a  := -mthumb
APP_CFLAGS  := -std=gnu17 $(WARN) -O2 -g -fPIC -fvisibility=hidden -ffreestanding -fno-builtin -fno-stack-protector \
               -fno-unwind-tables -fno-asynchronous-unwind-tables -fno-exceptions -fomit-frame-pointer
APP_LDFLAGS := -nostdlib -shared -fuse-ld=lld
APP_SRCS    := $(sort $(wildcard src/target/android/*.[cS]))
APP_OUT     := $(BUILD)/app
HAVE_APP    := $(shell command -v ld.lld >/dev/null && t=$$(mktemp) && $(APP_CC) --target=aarch64-linux-android21 $(APP_LDFLAGS) \
                 -x c -o $$t /dev/null >/dev/null 2>&1 && echo yes; rm -f "$$t")
APP_LIBS    := $(if $(HAVE_APP),$(APP_ABIS:%=$(BUILD)/lib/android/%/libnanoscope-app.so))

.PHONY: app
all: app
app: $(APP_LIBS) ## the library in an APK, for every ABI of Android
	$(if $(HAVE_APP),,@echo "app: left out, so \`nanoscope inject\` has no library to add: no clang and lld here (Debian: apt install clang lld)" >&2)

# app_rules ABI: objects, empty libraries, the library
define app_rules
$(APP_OUT)/$1/%.o: %.c
	@mkdir -p $$(@D)
	$$(call show,APP)
	$$(Q)$(APP_CC) --target=$(APP_TARGET_$1) $(TARGET_ROOTS) $(APP_CFLAGS) $(APP_FLAGS_$1) -MMD -MP -c $$< -o $$@

$(APP_OUT)/$1/%.o: %.S
	@mkdir -p $$(@D)
	$$(Q)$(APP_CC) --target=$(APP_TARGET_$1) $(TARGET_ROOTS) -c $$< -o $$@

$(APP_OUT)/$1/%.so: src/target/android/%.symbols
	@mkdir -p $$(@D)
	$$(Q)sed 's/.*/void &(void); void &(void) {}/' $$< | $(APP_CC) --target=$(APP_TARGET_$1) $(APP_LDFLAGS) -w -fno-builtin \
	    -Wl,-soname,$$(@F) -x c -o $$@ -

$(BUILD)/lib/android/$1/libnanoscope-app.so: $(addprefix $(APP_OUT)/$1/,$(addsuffix .o,$(basename $(APP_SRCS))) libc.so liblog.so)
	@mkdir -p $$(@D)
	$$(call show,LINK)
	$$(Q)$(APP_CC) --target=$(APP_TARGET_$1) $(APP_LDFLAGS) -Wl,-soname,$$(@F),--hash-style=both,--build-id=sha1,--strip-all \
	    -Wl,-z,max-page-size=16384,-z,common-page-size=16384,-z,now,-z,relro,-z,defs,-z,text,-z,noexecstack,-z,nodelete -o $$@ $$^

-include $(patsubst %.c,$(APP_OUT)/$1/%.d,$(filter %.c,$(APP_SRCS)))
endef
$(foreach abi,$(APP_ABIS),$(eval $(call app_rules,$(abi))))

# ---- From docs/man: options, table of commands, manual pages, completion (see tools/gendoc/doc.h) ---

GENDOC    := $(BUILD)/tools/gendoc
VERB_DOCS := $(sort $(wildcard docs/man/nanoscope-*.md))
VERBS     := $(VERB_DOCS:docs/man/nanoscope-%.md=%)
# Options that several commands share.
SHARED_DOCS := docs/man/filters.md docs/man/metrics.md docs/man/signing.md
OPTIONS_H := $(VERBS:%=$(BUILD)/gen/cli/%_options.h)
MAN_PAGES := $(BUILD)/share/man/man1/nanoscope.1 $(VERBS:%=$(BUILD)/share/man/man1/nanoscope-%.1)
COMPLETION := $(BUILD)/share/bash-completion/completions/nanoscope \
              $(BUILD)/share/zsh/site-functions/_nanoscope

$(OPTIONS_H) $(BUILD)/gen/commands.c $(MAN_PAGES) $(COMPLETION): $(SHARED_DOCS)

docs: $(MAN_PAGES) $(COMPLETION) ## manual pages and completion, under build/share

$(GENDOC): $(wildcard tools/gendoc/*.c tools/gendoc/*.h)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(HOSTCC) -D_GNU_SOURCE -std=gnu17 $(WARN) -O1 -g -o $@ $(filter %.c,$^)

$(BUILD)/gen/cli/%_options.h: docs/man/nanoscope-%.md $(GENDOC)
	@mkdir -p $(@D)
	$(call show,DOC)
	$(Q)$(GENDOC) header $< > $@

$(BUILD)/gen/commands.c: docs/man/nanoscope.md $(VERB_DOCS) $(GENDOC)
	@mkdir -p $(@D)
	$(call show,DOC)
	$(Q)$(GENDOC) commands docs/man/nanoscope.md $(VERB_DOCS) > $@

$(BUILD)/share/man/man1/%.1: docs/man/%.md $(GENDOC)
	@mkdir -p $(@D)
	$(call show,DOC)
	$(Q)$(GENDOC) man $(VERSION) $< > $@

$(BUILD)/share/bash-completion/completions/nanoscope: $(VERB_DOCS) $(GENDOC)
	@mkdir -p $(@D)
	$(call show,DOC)
	$(Q)$(GENDOC) bash $(VERB_DOCS) > $@

$(BUILD)/share/zsh/site-functions/_nanoscope: $(VERB_DOCS) $(GENDOC)
	@mkdir -p $(@D)
	$(call show,DOC)
	$(Q)$(GENDOC) zsh $(VERB_DOCS) > $@

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
	$(call show,CC)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP -c $< -o $@

$(CLI_OBJS) $(MAIN_OBJ): | $(OPTIONS_H)

# ---- Tests ------------------------------------------------------------------------------------------

# Some include what runs in traced programs.
$(BUILD)/tests/unit/%: tests/unit/%.c $(CLI_LIB) $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CPPFLAGS_ALL) -iquote src/target -Itests $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP $< -o $@ $(CLI_LIB) $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

check: layers names headers check-nm check-unit check-viewer check-browser check-e2e check-oracle ## all tests; ./check does this and more

check-unit: $(UNIT_TESTS) ## unit tests, of ROOM=record/stack only
	prove --timer -j$(JOBS) --failures --comments -e '' $(UNIT_TESTS)

.PHONY: check-viewer
check-viewer: ## tests of the web client
	@tools/viewer test $(VIEWER) || [ $$? -eq 3 ]

# Makes the traces of tests/golden/traces, whose outputs tests/golden/cli holds.
MAKE_TRACE := $(BUILD)/tests/golden/make_trace
$(MAKE_TRACE): tests/golden/make_trace.c $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP $< -o $@ $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

.PHONY: check-browser
check-browser: all $(MAKE_TRACE) ## the web client in Chromium
	NANOSCOPE=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) tests/viewer/run

# Prints the samples, states, marks and counters of a trace.
NOTES := $(BUILD)/tests/e2e/notes
$(NOTES): tests/e2e/record/metrics/notes.c $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP $< -o $@ $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

# Answers one request of the viewer about a trace.
ASK := $(BUILD)/tests/e2e/ask
$(ASK): tests/e2e/export/engine/ask.c $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP $< -o $@ $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

# Adds references to a DEX file.
DEX_ADD := $(BUILD)/tests/e2e/dex_add
$(DEX_ADD): tests/e2e/android/dex/add.c $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP $< -o $@ $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

# An end-to-end test is an executable tests/e2e/<folder of src/host/cli>/test_* that prints TAP; ONLY="start dex" runs
# those with such a word in their path.
E2E_ALL   := $(sort $(wildcard tests/e2e/*/test_*))
E2E_TESTS := $(if $(ONLY),$(foreach t,$(E2E_ALL),$(if $(strip $(foreach o,$(ONLY),$(findstring $o,$t))),$t)),$(E2E_ALL))
# They look at the machine's processes and recorders, measure time, or change build/: one at a time.
E2E_ALONE := $(filter tests/e2e/record/% tests/e2e/doctor/% %/test_install %/test_reader,$(E2E_TESTS))
check-e2e: all $(MAKE_TRACE) $(NOTES) $(ASK) $(DEX_ADD) ## tests of the whole: build, record, read; ONLY=WORDS
	$(if $(E2E_TESTS),NANOSCOPE=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) ALONE='$(E2E_ALONE)' tools/run-tests $(abspath $(BUILD))/tests/e2e.state '' $(E2E_TESTS))

.PHONY: check-soak
SOAK ?= 10000
check-soak: all ## SOAK=10000 cycles of start, filter and stop on a busy program (half an hour)
	SOAK=$(SOAK) NICE=10 NANOSCOPE=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) prove --failures --comments -e '' tests/e2e/record/test_start_busy

# The end-to-end tests whose work is done by nanoscope itself.
ASAN_TESTS := $(addprefix tests/e2e/,android/test_axml cli/test_cli $(addprefix analyze/test_,calls diff golden report_runs trace_files) \
                $(addprefix export/test_,formats formats_consumers open parquet pdf))
check-asan: ## unit tests and those of files, under AddressSanitizer and UBSan
	$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined check-unit
	TESTS_AGAIN= $(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined E2E_TESTS="$(ASAN_TESTS)" check-e2e

# The unit tests that have threads.
TSAN_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tsan/tests/unit/%,$(shell grep -lE '<pthread\.h>|"(unit/rigs/thread_rig\.h|viewer/server/)' $(UNIT_SRCS)))
check-tsan: ## unit tests that have threads, under ThreadSanitizer
	$(MAKE) BUILD=$(BUILD)/tsan SANITIZE=thread UNIT_TESTS="$(TSAN_TESTS)" check-unit

# The oracle: generated programs that know their own call tree (tests/oracle/run has the options).
ORACLE_TOOLS := $(addprefix $(BUILD)/oracle/,generate check oracle.o)
SEEDS ?=

$(BUILD)/oracle/generate: tests/oracle/generate.c tests/oracle/emit.c tests/oracle/emit.h
	@mkdir -p $(@D)
	$(call show,LD)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) $(filter %.c,$^) -o $@ $(LDFLAGS)

$(BUILD)/oracle/check: $(addprefix tests/oracle/,check.c lanes.c lanes.h logfile.c logfile.h) $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LD)
	$(Q)$(CC) $(CPPFLAGS_ALL) -Itests $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) $(filter %.c,$^) -o $@ \
	    $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

$(BUILD)/oracle/oracle.o: tests/oracle/oracle.c tests/oracle/oracle.h
	@mkdir -p $(@D)
	$(call show,CC)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(HOST_CFLAGS) -O2 -g -fPIC -c $< -o $@

.PHONY: check-oracle oracle
check-oracle: all $(ORACLE_TOOLS) ## one generated program under each of 32 configurations
	BUILD=$(abspath $(BUILD)) NANOSCOPE=$(abspath $(BIN)) prove --failures --comments -e '' tests/oracle/run

oracle: all $(ORACLE_TOOLS) ## SEEDS=1-500 generated programs under every configuration
	BUILD=$(abspath $(BUILD)) NANOSCOPE=$(abspath $(BIN)) tests/oracle/run --all --seeds $(or $(SEEDS),1-20)

check-arch: all ## hooks for AArch64, and the library of an app for ARM, under an emulator
	$(MAKE) target CROSS=aarch64-linux-gnu-
	$(MAKE) BUILD=$(BUILD)/aarch64 CC=aarch64-linux-gnu-gcc CROSS=aarch64-linux-gnu- check-nm
	NANOSCOPE=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) prove --failures --comments -e '' $(wildcard tests/check-arch/test_*)

# Rewritten Android apps on a real ART, which is built here first; both it and the apps are kept.
ANDROID_TESTS := $(sort $(wildcard tests/android/test_*))
.PHONY: check-android
check-android: all ## rewritten apps on Android's own runtime (builds it first: minutes, once)
	tests/android/art/build
	tests/android/corpus
	NANOSCOPE=$(abspath $(BIN)) BUILD=$(abspath $(BUILD)) prove --failures --comments -e '' $(ANDROID_TESTS)

# Fuzz targets: tests/fuzz/<room>/fuzz_<parser>.c, with seeds in tests/fuzz/seeds/<parser>/. With seed 0
# each run tries other inputs.
FUZZ_SECONDS ?= 60
FUZZ_SEED    ?= 0
FUZZ_SRCS    := $(sort $(shell find tests/fuzz -name 'fuzz_*.c'))
FUZZERS      := $(FUZZ_SRCS:tests/fuzz/%.c=$(BUILD)/fuzz/%)

fuzz: ## every parser of outside input, FUZZ_SECONDS each (needs clang)
	$(MAKE) BUILD=$(BUILD)/fuzz-build CC=clang \
	    SANITIZE=fuzzer-no-link,address,undefined fuzz-run FUZZ_SECONDS=$(FUZZ_SECONDS) \
	    FUZZ_SEED=$(FUZZ_SEED)

.PHONY: fuzz-run
fuzz-run: $(FUZZERS)
	@printf '%s\n' $(FUZZERS) | xargs -P $(JOBS) -I '{}' tools/run-fuzzer '{}' $(FUZZ_SECONDS) $(FUZZ_SEED)

$(BUILD)/fuzz/%: tests/fuzz/%.c $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CPPFLAGS_ALL) -Itests $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -fsanitize=fuzzer \
	    -MMD -MP $< -o $@ $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

# ---- Benchmarks -------------------------------------------------------------------------------------

# Programs that measure the host library from inside.
BENCH_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard bench/*_bench.c))
.PHONY: bench-programs
bench-programs: $(BENCH_PROGRAMS)
$(BUILD)/bench/%_bench: bench/%_bench.c $(HOST_LIB)
	@mkdir -p $(@D)
	$(call show,LINK)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(HOST_CFLAGS) $(CFLAGS) $(SANITIZE_FLAGS) -MMD -MP $< -o $@ $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

bench: all $(BENCH_PROGRAMS) ## every figure the README promises, measured here (about 15 minutes)
	bench/run --build $(BUILD) $(BENCH_ARGS)

bench-quick: all $(BENCH_PROGRAMS) ## the same with fewer rounds
	bench/run --build $(BUILD) --quick $(BENCH_ARGS)

# ---- House rules ------------------------------------------------------------------------------------

C_FILES := $(shell find include src tests tools bench examples \
             \( -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' \) 2>/dev/null | sort)
SHELL_FILES := $(shell grep -lE '^.!/bin/(ba)?sh' -r demo check .ci tools tests bench 2>/dev/null | sort)

fmt: ## is the formatting clang-format's and prettier's?
	@clang-format --dry-run -Werror $(C_FILES)
	@tools/viewer fmt $(VIEWER) || [ $$? -eq 3 ]

fmt-fix: ## format everything
	clang-format -i $(C_FILES)
	tools/viewer fmt-fix $(VIEWER) || [ $$? -eq 3 ]

layers: ## who may include whom (tools/layers.rules)
	tools/check-layers

.PHONY: names
names: ## functions say where they live, structures have a tag of their own
	tools/check-names

headers: $(OPTIONS_H) ## every header compiles alone; public ones as C99 and C++11
	$(Q)CC="$(CC)" CPPFLAGS="$(CPPFLAGS_ALL)" tools/check-headers

LINT_SRCS  := $(HOST_SRCS) $(CLI_SRCS) $(wildcard tools/*/*.c)
LINT_FLAGS := $(CPPFLAGS_ALL) -DNSC_VERSION=\"lint\"
lint: $(LINT_SRCS:%=$(BUILD)/lint/%.ok) $(BUILD)/lint/cppcheck.ok ## clang-tidy, cppcheck, shellcheck (use -j)
	shellcheck -x -S warning $(SHELL_FILES)

# A source is looked at again only when it, a header or the rules have changed since it was clean.
# What clang-tidy says on stderr is only how many warnings of system headers it kept to itself.
$(BUILD)/lint/%.ok: % .clang-tidy $(filter %.h,$(C_FILES)) | $(OPTIONS_H)
	@mkdir -p $(@D)
	$(call show,TIDY)
	$(Q)clang-tidy --quiet $< -- -std=gnu17 $(LINT_FLAGS) 2>/dev/null
	@touch $@

# cppcheck does not know -iquote.
$(BUILD)/lint/cppcheck.ok: $(LINT_SRCS) $(filter %.h,$(C_FILES)) | $(OPTIONS_H)
	@mkdir -p $(@D)/cppcheck
	$(call show,CHECK)
	$(Q)cppcheck --quiet --error-exitcode=1 -D__x86_64__ --std=c11 --inline-suppr --suppress=missingIncludeSystem \
	    --enable=warning,performance,portability --cppcheck-build-dir=$(@D)/cppcheck \
	    $(subst -iquote ,-I,$(LINT_FLAGS)) $(LINT_SRCS)
	@touch $@

# ---- Installing -------------------------------------------------------------------------------------

# Everything under these folders of build/ is the product, at the place where it will lie.
PRODUCT = cd $(BUILD) && find bin lib include share \( -type f -o -type l \)
INSTALL_TO = $(DESTDIR)$(PREFIX)

install: all ## into PREFIX (and DESTDIR)
	$(PRODUCT) | while read -r f; do \
	    mkdir -p "$(INSTALL_TO)/$${f%/*}" && cp -P --remove-destination "$$f" "$(INSTALL_TO)/$$f" || exit 1; done

uninstall: ## remove what install put there
	$(PRODUCT) | while read -r f; do rm -f "$(INSTALL_TO)/$$f"; done
	-rmdir "$(INSTALL_TO)/include/nanoscope" 2>/dev/null

dist: ## source archive of the last commit
	mkdir -p $(BUILD)
	git archive --prefix=nanoscope-$(VERSION)/ -o $(BUILD)/nanoscope-$(VERSION).tar.gz HEAD

clean: ## remove build/
	rm -rf $(BUILD)

-include $(WASM_OBJS:.o=.d)
-include $(HOST_OBJS:.o=.d) $(CLI_OBJS:.o=.d) $(MAIN_OBJ:.o=.d) $(UNIT_TESTS:=.d) $(BENCH_PROGRAMS:=.d)
