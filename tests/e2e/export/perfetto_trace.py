#!/usr/bin/env python3
"""Write a Perfetto trace by hand, as another producer would: perfetto_trace.py KIND >FILE.

The fields are those of perfetto's trace_packet.proto; nothing here is shared with the importer.
"""
import struct
import sys
import zlib


def leb(value):
    out = b""
    value &= (1 << 64) - 1
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def message(*fields):
    out = b""
    for number, value in fields:
        if isinstance(value, float):
            out += leb(number << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, int):
            out += leb(number << 3) + leb(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += leb(number << 3 | 2) + leb(len(value)) + value
    return out


def packet(sequence, *fields):
    return message((1, message((10, sequence), *fields)))


def event(kind, *fields):
    return 11, message((9, kind), *fields)


BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS = (13, 1), (13, 2)
BOOT, MONOTONIC, REALTIME = 6, 3, 1


def clock(number, timestamp, *more):
    return 1, message((1, number), (2, timestamp), *more)


def tracks():
    return (packet(1, (60, message((1, 10), (3, message((1, 500), (6, "proc"))))))
            + packet(1, (60, message((1, 11), (5, 10), (4, message((1, 500), (2, 501), (5, "main"))))))
            + packet(1, (60, message((1, 12), (5, 11), (2, "lane"))))
            + packet(1, (60, message((1, 13), (5, 10), (2, "async"))))
            + packet(1, (60, message((1, 14), (5, 11), (2, "queue"), (8, message((4, 10), (5, 1)))))))


def plain():
    """Inline names, whole times; a slice without end, an end without begin, other packets."""
    out = tracks()
    out += packet(1, (8, 500), event(END, (11, 11)))
    out += packet(1, (8, 1000), event(BEGIN, (11, 11), (23, "a"), (4, message((10, "x"), (4, 1)))))
    out += packet(1, (8, 1500), event(BEGIN, (11, 12), (23, "on a lane")))
    out += packet(1, (8, 1800), event(END, (11, 12)))
    out += packet(1, (8, 2000), event(END, (11, 11), (47, b"\1\0\0\0\0\0\0\0")))
    out += packet(1, (8, 1200), event(BEGIN, (11, 11), (23, "early")))  # packets are in no order
    out += packet(1, (8, 1300), event(END, (11, 11)))
    out += packet(1, (8, 2500), event(INSTANT, (11, 11), (23, "now")))
    out += packet(1, (8, 2600), event(COUNTER, (11, 14), (30, 2)))
    out += packet(1, (8, 2700), event(COUNTER, (11, 14), (30, -1)))
    out += packet(1, (8, 3000), event(BEGIN, (11, 13), (23, "request")))
    out += packet(1, (8, 4000), event(BEGIN, (11, 11), (23, "open")))
    out += packet(1, (8, 4500), event(INSTANT, (11, 11), (23, "last")))
    return out + packet(1, (1, b"ftrace")) + packet(1, (36, b"sync"))


def state():
    """Interned names, an incremental clock in microseconds, defaults, a cleared state, a loss."""
    def interned(iid, text):
        return 12, message((2, message((1, iid), (2, text))), (4, message((1, 7), (2, "a.c"), (4, 42))))

    defaults = (59, message((58, 64), (11, message((11, 11)))))
    snapshot = (6, message(clock(64, 5, (3, 1), (4, 1000)), clock(BOOT, 1000000)))
    out = tracks()
    out += packet(2, (8, 1), NEEDS, event(BEGIN, (10, 1)))  # before the state: lost
    out += packet(2, CLEARED, snapshot, defaults)
    out += packet(2, (8, 1), NEEDS, interned(1, "first"), event(BEGIN, (10, 1), (34, 7)))
    out += packet(2, (8, 2), NEEDS, event(END))
    out += packet(2, (8, 3), NEEDS)  # no event, but time goes on
    out += packet(2, (8, 4), NEEDS, event(BEGIN, (10, 1)))
    out += packet(2, (8, 5), NEEDS, event(END))
    out += packet(2, CLEARED, snapshot, defaults)
    out += packet(2, (8, 100), NEEDS, interned(1, "second"), event(BEGIN, (10, 1)))
    out += packet(2, (8, 1), NEEDS, event(END))
    out += packet(2, (42, 1), (8, 1), NEEDS, event(BEGIN, (10, 1)))  # packets were dropped
    # a clock that only another one ties to the boot clock
    out += packet(3, (6, message(clock(MONOTONIC, 100), clock(BOOT, 2000100))))
    out += packet(3, (8, 500), (58, MONOTONIC), event(BEGIN, (11, 11), (23, "mono")))
    return out + packet(3, (8, 600), (58, MONOTONIC), event(END, (11, 11)))


def calendar():
    """Clock snapshots with the calendar's time, of which the first counts, after one without it."""
    start, realtime = 4_000_000_000, 1_700_000_000_000_000_000
    out = tracks() + packet(1, (6, message(clock(BOOT, start - 7), clock(MONOTONIC, start - 9))))
    for after in (0, 1_000_000_000):
        out += packet(1, (6, message(clock(BOOT, start + after), clock(MONOTONIC, start + after - 2), clock(REALTIME, realtime + after))))
    return out + call(start + 5_000_000, start + 20_000_000, (11, 11), (23, "a"))


def compressed():
    out = tracks() + packet(4, (8, 10), event(BEGIN, (11, 11), (23, "in zlib")))
    out += packet(4, (8, 30), event(END, (11, 11)))
    inner = message((1, message((50, zlib.compress(out)))))
    return message((1, message((50, zlib.compress(out))))) + message((1, message((50, zlib.compress(inner)))))


def legacy():
    """Threads by thread descriptor, times in microseconds, events by their phase."""
    out = packet(5, CLEARED, (44, message((1, 500), (2, 502), (5, "old"), (6, 1000))))
    out += packet(5, (11, message((1, 5), (6, message((2, ord("B")))), (23, "b"))))
    out += packet(5, (11, message((1, 5), (6, message((2, ord("E")))))))
    out += packet(5, (11, message((16, 2000), (6, message((2, ord("X")), (3, 7))), (23, "x"))))
    return out + packet(5, (11, message((16, 2001), (6, message((2, ord("b")))), (23, "async"))))


def thread(uuid, tid, name):
    return packet(1, (60, message((1, uuid), (4, message((1, 500), (2, tid), (5, name))))))


def call(start, end, *fields):
    return packet(1, (8, start), event(BEGIN, *fields)) + packet(1, (8, end), event(END, *fields))


def late():
    """Descriptors after the first events: of a thread, of one that is known, of a lane's parent, of a counter's."""
    out = thread(20, 502, "known") + call(100, 200, (11, 20), (23, "k"))
    out += call(1000, 2000, (11, 10), (23, "early")) + call(1000, 2000, (11, 21), (23, "apart"))
    out += packet(1, (60, message((1, 12), (5, 30), (2, "lane")))) + call(1100, 1200, (11, 12), (23, "lane early"))
    out += packet(1, (60, message((1, 14), (5, 30), (2, "queue"), (8, b""))))
    out += packet(1, (8, 1500), event(COUNTER, (11, 14), (30, 1)))
    out += thread(10, 501, "main") + thread(21, 502, "known") + thread(30, 503, "parent")
    out += call(3000, 4000, (11, 10), (23, "later")) + call(3000, 4000, (11, 21), (23, "joined"))
    out += call(3100, 3200, (11, 12), (23, "lane later"))
    return out + packet(1, (8, 3500), event(COUNTER, (11, 14), (30, 2)))


def rename():
    """Descriptors that come again, of tracks that are the thread's own."""
    state, stack = (packet(1, (60, message((1, 11 + i), (5, 10), (2, name)))) for i, name in enumerate(("state", "stack 2")))
    out = thread(10, 501, "main") + state + stack + call(1000, 3000, (11, 10), (23, "work"))
    out += call(1100, 1200, (11, 11), (23, "running")) + call(1100, 1200, (11, 12), (23, "there"))
    return out + state + stack


def places():
    """One interned name at two places; a default track that was cleared; times beyond all."""
    out = thread(10, 501, "main")
    out += packet(1, CLEARED, (59, message((11, message((11, 10))))), (12, message((2, message((1, 1), (2, "run"))))))
    for start, file in (1000, "a.c"), (2000, "b.c"):
        out += packet(1, (8, start), NEEDS, event(BEGIN, (10, 1), (33, message((2, file), (4, 7)))))
        out += packet(1, (8, start + 100), NEEDS, event(END))
    out += packet(1, CLEARED) + call(3000, 4000, (23, "stale"))
    out += packet(2, CLEARED, (44, message((1, 500), (2, 502), (6, (1 << 64) // 1000 + 5))))
    out += packet(2, (11, message((1, 1), (9, BEGIN), (23, "x"))))
    out += packet(3, (6, message(clock(64, 0, (4, 1 << 40)), clock(BOOT, 0))))
    return out + packet(3, (8, 1 << 24), (58, 64), event(INSTANT, (11, 10), (23, "wrapped")))


def gap():
    """Packets of a sequence are dropped, which writes to two threads; a third has its first event after that."""
    out = thread(10, 501, "a") + thread(20, 502, "b") + thread(30, 503, "c")
    for track in 10, 20:
        out += packet(1, (8, 1000), event(BEGIN, (11, track), (23, "f")))
    out += packet(1, (42, 1), (8, 2000), event(END, (11, 10))) + packet(1, (8, 2100), event(END, (11, 20)))
    return out + call(2200, 2300, (11, 10), (23, "g")) + call(2200, 2300, (11, 30), (23, "g"))


def zstd():
    """zstd-compressed packets (frames of one raw block each), of which one is damaged; packets of other kinds."""
    inner = tracks() + call(10, 30, (11, 11), (23, "in zstd"))
    frame = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(inner)) + struct.pack("<I", len(inner) << 3 | 1)[:3] + inner
    out = message((1, message((133, frame)))) + message((1, message((133, frame[:-1]))))
    out += message((1, message((133, b"x" * 40))))
    return out + b"".join(message((1, message((n, b"")))) for n in (47, 48, 49, 51, 52, 53, 61, 70, 74, 76, 200))


def stacks():
    """A thread with many tracks below it."""
    out = bytearray(thread(10, 501, "main"))
    for i in range(40000):
        out += packet(1, (60, message((1, 100 + i), (5, 10), (2, "async")))) + call(i, i + 1, (11, 100 + i), (23, "a"))
    return bytes(out)


def boot():
    """Times since a boot some hours before, and no snapshot of clocks."""
    now = 20000 * 10**9
    out = thread(10, 501, "main")
    out += packet(1, (8, now), event(BEGIN, (11, 10), (23, "f"))) + call(now + 10**8, now + 3 * 10**8, (11, 10), (23, "g"))
    return out + packet(1, (8, now + 2 * 10**9), event(END, (11, 10)))


KINDS = boot, plain, state, calendar, compressed, legacy, late, rename, places, gap, zstd, stacks
sys.stdout.buffer.write({kind.__name__: kind for kind in KINDS}[sys.argv[1]]())
