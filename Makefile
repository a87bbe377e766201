# nanoscope: one non-recursive makefile, everything built under build/. `make help` lists the targets.
#
# Sources are found by room: src/<room>/**/*.c. A new file or room needs no edit here.
BUILD   ?= build
CC      ?= cc
AR      ?= ar
VERSION := 0.1.0

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wundef -Wvla -Walloca -Wconversion -Wsign-conversion \
        -Wformat=2 -Wcast-qual -Wcast-align -Wpointer-arith -Wwrite-strings -Wstrict-prototypes \
        -Wmissing-prototypes -Wold-style-definition -Wimplicit-fallthrough -Wswitch-enum \
        -Wnull-dereference -Wdouble-promotion -Wdate-time
CPPFLAGS_ALL := -Iinclude -Isrc -I$(BUILD)/gen -D_GNU_SOURCE -DNSC_VERSION='"$(VERSION)"'
CFLAGS ?= -O2 -g
HOST_CFLAGS := -std=gnu17 $(WARN) -fstack-protector-strong

HOST_ROOMS := base util symbols trace record analyze formats
HOST_SRCS  := $(sort $(foreach r,$(HOST_ROOMS),$(wildcard src/$(r)/*.c)))
CLI_SRCS   := $(sort $(wildcard src/cli/*.c))
HOST_OBJS  := $(HOST_SRCS:%.c=$(BUILD)/obj/%.o)
CLI_OBJS   := $(CLI_SRCS:%.c=$(BUILD)/obj/%.o)
HOST_LIBS  := -ldw -lelf -lzstd -lz -lstdc++ -lm -lpthread

HOST_LIB := $(BUILD)/obj/libnsc-host.a
BIN      := $(BUILD)/bin/nanoscope
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))

.PHONY: all check-unit layers clean
all: $(if $(CLI_SRCS),$(BIN)) $(HOST_LIB)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CPPFLAGS) $(HOST_CFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(HOST_LIB): $(HOST_OBJS)
	@mkdir -p $(@D)
	rm -f $@ && $(AR) rcs $@ $^

$(BIN): $(CLI_OBJS) $(HOST_LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(CLI_OBJS) $(HOST_LIB) $(HOST_LIBS)

$(BUILD)/tests/unit/%: tests/unit/%.c $(HOST_LIB)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) -Itests $(HOST_CFLAGS) $(CFLAGS) -MMD -MP $< -o $@ $(HOST_LIB) $(HOST_LIBS) $(LDFLAGS)

check-unit: $(UNIT_TESTS)
	prove -e '' $(UNIT_TESTS)

layers:
	tools/check-layers src ../tools/layers.rules

clean:
	rm -rf $(BUILD)

-include $(HOST_OBJS:.o=.d) $(CLI_OBJS:.o=.d) $(UNIT_TESTS:=.d)
