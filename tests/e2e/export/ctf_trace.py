"""Write CTF 1.8 traces of other shapes than nanoscope's, and what they say, without any of nanoscope's code.

usage: ctf_trace.py KIND OUT
  big       big-endian, bit fields, compact and extended heads, a clock of 1 MHz and 27 bits, threads in contexts
  packets   packetized metadata, a stream for each processor, threads switched by events (as Zephyr does)
  text      names of functions as strings, floating-point fields, sequences, lost events
Prints a line for each function: name, calls, total and self in ns, as formats_read.py's report does.
"""
import os
import random
import struct
import sys

NAMES = ["main", "draw(int)", "leaf", "a \"quoted\" name", "<b>"]


class Bits:
    """Bits in either order; every field begins where its alignment says."""

    def __init__(self, big):
        self.big, self.bits = big, []

    def align(self, n):
        while len(self.bits) % n:
            self.bits.append(0)

    def put(self, value, size, align=None):
        self.align(align if align else (8 if size % 8 == 0 else 1))
        digits = [(value >> i) & 1 for i in range(size)]  # lowest first
        self.bits += reversed(digits) if self.big else digits

    def text(self, text):
        for byte in text.encode() + b"\0":
            self.put(byte, 8)

    def bytes(self):
        self.align(8)
        out = bytearray()
        for i in range(0, len(self.bits), 8):
            eight = self.bits[i : i + 8]
            out.append(int("".join(map(str, eight if self.big else reversed(eight))), 2))
        return bytes(out)


class Calls:
    """Random calls of some threads, in order of time, and their sums in units of the clock."""

    def __init__(self, seed, threads, count, step=40):
        rnd, self.events, self.sums = random.Random(seed), [], {}
        stacks, now = {t: [] for t in threads}, 1000
        for _ in range(count):
            t, now = rnd.choice(threads), now + rnd.choice([0, 1, step])
            if rnd.random() < 0.01:
                now += 1 << 28  # more than 27 bits
            stack = stacks[t]
            if len(stack) < 20 and (not stack or rnd.random() < 0.5):
                stack.append([rnd.randrange(len(NAMES)), now, 0])
                self.events.append((now, t, True, stack[-1][0]))
            else:
                self.leave(t, stack, now)
        for t, stack in stacks.items():
            while stack:
                now += 3
                self.leave(t, stack, now)

    def leave(self, t, stack, now):
        name, start, inside = stack.pop()
        self.events.append((now, t, False, name))
        row = self.sums.setdefault(NAMES[name], [0, 0, 0])
        row[0] += 1
        row[1] += 0 if any(call[0] == name for call in stack) else now - start
        row[2] += now - start - inside
        if stack:
            stack[-1][2] += now - start

    def show(self, scale):
        for name, (calls, total, own) in sorted(self.sums.items()):
            print(f"{name} {calls} {total * scale} {own * scale}")


def save(folder, name, data):
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


BIG = """/* CTF 1.8 */
// a comment
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; signed = false; } := unsigned short int;
typealias integer { size = 32; align = 8; } := uint32_t;
typealias integer { size = 5; align = 1; } := uint5_t;
typealias integer { size = 3; align = 1; signed = true; } := int3_t;
trace {
    major = 1; minor = 8; byte_order = be;
    packet.header := struct { uint32_t magic; uint8_t uuid[16]; unsigned short int stream_id; };
};
clock { name = cyc; freq = 1000000; offset_s = 1700000000; offset = 5; };
typealias integer { size = 27; align = 1; map = clock.cyc.value; } := short_time_t;
typealias integer { size = 64; align = 8; map = clock.cyc.value; } := long_time_t;
enum names : uint8_t { "main", "draw(int)", "leaf", "a \\"quoted\\" name" = 3, "<b>" = 4 ... 9 };
struct head {
    enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
    variant <id> {
        struct { short_time_t timestamp; } compact;
        struct { uint32_t id; long_time_t timestamp; } extended;
    } v;
} align(8);
stream {
    id = 0x7;
    packet.context := struct { long_time_t timestamp_begin; uint32_t content_size; uint32_t packet_size; };
    event.header := struct head;
    event.context := struct { uint32_t _vpid; uint32_t _vtid; };
};
event {
    name = "my:func_entry"; id = 3; stream_id = 7;
    fields := struct { int3_t odd; enum names name; uint32_t unused[2]; };
};
event {
    name = "my:func_exit"; id = 40; stream_id = 7;
    fields := struct { enum names name; };
};
event { name = "other"; id = 4; stream_id = 7; fields := struct { int3_t a; string text; }; };
"""


def big(folder):
    calls = Calls("big", [11, 12, 4000000], 3000)
    save(folder, "metadata", BIG.encode())
    data, events = b"", list(calls.events)
    events.insert(5, (events[4][0], 11, None, 0))
    for first in range(0, len(events), 700):
        part, b = events[first : first + 700], Bits(True)
        b.put(0xC1FC1FC1, 32)
        for i in range(16):
            b.put(i, 8)
        b.put(7, 16)
        b.put(part[0][0], 64)
        sizes = len(b.bits)
        b.put(0, 64)
        last = part[0][0]
        for now, thread, enter, name in part:
            b.align(8)
            number = 4 if enter is None else 3 if enter else 40
            if number > 30 or now - last >= 1 << 27:
                b.put(31, 5, 1)
                b.put(number, 32)
                b.put(now, 64)
            else:
                b.put(number, 5, 1)
                b.put(now & ((1 << 27) - 1), 27, 1)
            last = now
            b.put(4711, 32)
            b.put(thread, 32)
            if enter is None:
                b.put(5, 3)  # -3
                b.text("hello")
                continue
            if enter:
                b.put(6, 3)
            b.put(7 if NAMES[name] == "<b>" and name == 4 and now % 2 else name, 8)
            if enter:
                b.put(1, 32)
                b.put(2, 32)
        content = len(b.bits)
        b.align(8)
        size = Bits(True)
        size.put(content, 32)
        size.put((len(b.bits) // 8 + 13) * 8, 32)
        b.bits[sizes : sizes + 64] = size.bits
        data += b.bytes() + bytes(13)
    save(folder, "stream", data)
    calls.show(1000)


PACKETS = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; encoding = ASCII; } := char_t;
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 32; align = 8; signed = false; map = clock.default.value; } := time_t;
struct event_header { time_t timestamp; uint8_t id; };
trace { major = 1; minor = 8; byte_order = le; };
clock { name = default; freq = 1000000000; };
stream { event.header := struct event_header; };
event { name = "thread_switched_in"; id = 1; fields := struct { uint32_t thread_id; char_t name[20]; }; };
event { name = "function_enter"; id = 2; fields := struct { string func; }; };
event { name = "function_exit"; id = 3; fields := struct { string func; }; };
event { name = "isr_enter"; id = 4; };
event { name = "isr_exit"; id = 5; };
"""


def packets(folder):
    calls = Calls("packets", [1, 2, 3, 4], 2000, 7000)
    text, chunks = PACKETS.encode(), b""
    for at in range(0, len(text), 500):
        part = text[at : at + 500]
        bits = (37 + len(part)) * 8
        chunks += struct.pack("<I16sIII5B", 0x75D11D57, b"u" * 16, 0, bits, bits + 64, 0, 0, 0, 1, 8) + part + bytes(8)
    save(folder, "metadata", chunks)
    for cpu in (0, 1):
        out, running = b"", None
        for now, thread, enter, name in calls.events:
            if thread % 2 != cpu:
                continue
            if thread != running:
                running = thread
                out += struct.pack("<IBI20s", now & 0xFFFFFFFF, 1, 0x20001000 + thread, b"thread %d" % thread)
            if name == 2:
                out += struct.pack("<IB", now & 0xFFFFFFFF, 4 if enter else 5)
            else:
                out += struct.pack("<IB", now & 0xFFFFFFFF, 2 if enter else 3) + NAMES[name].encode() + b"\0"
        save(folder, f"channel0_{cpu}", out)
    calls.sums["isr"] = calls.sums.pop("leaf")
    calls.show(1)


TEXT = """/* CTF 1.8 */
typealias integer { size = 8; } := uint8_t; typealias integer { size = 64; } := uint64_t;
typealias floating_point { exp_dig = 8; mant_dig = 24; align = 32; } := float;
typealias integer { size = 64; map = clock.mono.value; } := time_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint8_t stream_id; }; };
clock { name = mono; freq = 1000000000; };
stream {
    packet.context := struct { uint64_t packet_size; uint64_t events_discarded; uint64_t tid; };
    event.header := struct { uint8_t id; time_t timestamp; };
};
event { name = "func_entry"; id = 0; fields := struct { float load; uint8_t count; uint64_t values[count]; string function; }; };
event { name = "func_exit"; id = 1; fields := struct { string function; }; };
event { name = "temperature"; id = 2; fields := struct { float value; }; };
"""


def text(folder):
    calls = Calls("text", [77], 500)
    save(folder, "metadata", TEXT.encode())
    data, discarded = b"", 0
    for first in range(0, len(calls.events), 100):
        body = bytearray()
        body += struct.pack("<BQQQ", 0, 0, discarded, 77)
        for now, _, enter, name in calls.events[first : first + 100]:
            body += struct.pack("<BQ", 0 if enter else 1, now)
            if enter:
                body += bytes(-len(body) % 4) + struct.pack("<fB", 0.5, name) + bytes(8 * name)
            body += NAMES[name].encode() + b"\0"
        body += struct.pack("<BQ", 2, calls.events[min(first + 99, len(calls.events) - 1)][0])
        body += bytes(-len(body) % 4) + struct.pack("<f", 36.5)
        body[1:9] = struct.pack("<Q", len(body) * 8)
        data += bytes(body)
        discarded += 3
    save(folder, "one", data)
    calls.show(1)


def main():
    kind, folder = sys.argv[1:]
    os.mkdir(folder)
    {"big": big, "packets": packets, "text": text}[kind](folder)


main()
