"""What ART's own method tracing wrote (version 3, two clocks), and how recordings are compared with it, event by event.

A thread's events are a list of strings: a method in ART's pretty form where it is entered, "" where one is left.
"""
import glob
import struct

import dexinfo

ENTER = 0  # 1 is an exit, 2 one by an exception
# Threads of the runtime: they go on while a trace is ended.
ENDLESS = {"FinalizerDaemon", "ReferenceQueueDaemon", "HeapTaskDaemon", "FinalizerWatchdogDaemon"}


class Broken(Exception):
    """Not such a trace, or not a whole one."""


class Thread:
    """A thread's name, and its events."""

    def __init__(self, tid, name):
        self.tid, self.name, self.events = tid, name, []

    def open(self):
        return 2 * sum(1 for e in self.events if e) - len(self.events)


def read(path, known):
    """{tid: Thread} of an ART trace, with the methods of KNOWN only. A trace that has no room left is an error."""
    with open(path, "rb") as file:
        data = file.read()
    end = data.index(b"*end\n") + 5
    text = data[:end].decode("utf-8", "replace")
    if "data-file-overflow=false" not in text:
        raise Broken(f"{path}: ART's buffer was too small")
    threads, methods = {}, {}
    part = None
    for line in text.splitlines():
        if line.startswith("*"):
            part = line
        elif part == "*threads":
            tid, name = line.split("\t", 1)
            threads[int(tid)] = Thread(int(tid), name)
        elif part == "*methods":
            number, owner, name, signature = line.split("\t")[:4]
            pretty = dexinfo.pretty_method(owner, name, signature)
            if pretty in known:
                methods[int(number, 16)] = pretty
    magic, version, offset = struct.unpack_from("<IHH", data, end)
    if magic != 0x574F4C53 or version != 3 or struct.unpack_from("<H", data, end + 16)[0] != 14:
        raise Broken(f"{path}: not a trace of version 3")
    # Records have 16 bits of a thread's number.
    short = {tid & 0xFFFF: t for tid, t in threads.items()}
    records = memoryview(data)[end + offset:]
    for tid, what in struct.iter_unpack("<HI8x", records[:len(records) // 14 * 14]):
        method = methods.get(what & ~3)
        if method:
            # ART forgets the names of threads that end while it stops.
            short.setdefault(tid, threads.setdefault(tid, Thread(tid, ""))).events.append(method if what & 3 == ENTER else "")
    return {tid: t for tid, t in threads.items() if t.events}


def read_text(path):
    """{tid: Thread} of what nanoscope exported as text: PATH has the first thread, PATH.TID the others."""
    threads = {}
    for file in [path, *glob.glob(glob.escape(path) + ".[0-9]*")]:
        tid = int(file[len(path) + 1:] or 0)
        thread = Thread(tid, "")
        with open(file, encoding="utf-8", errors="surrogateescape") as lines:
            for line in lines:
                event = line.rstrip("\n").split(":", 1)[1]
                thread.events.append("" if event == "POP" else event)
        if thread.events:
            threads[tid] = thread
    return threads


def difference(name, one, other):
    """None, or a line about the first event in which two lists differ. OTHER may go on where ONE's thread was still running."""
    if one == other:
        return None
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    if at == len(one) and name in ENDLESS:
        return None

    def show(events):
        return "nothing" if at >= len(events) else events[at] or "an end"

    return f"thread {name}: event {at} of {len(one)} and {len(other)}: {show(one)}, but {show(other)}; before it {one[max(0, at - 3):at]}"


def by(threads, key):
    groups = {}
    for tid in sorted(threads):
        groups.setdefault(key(threads[tid]), []).append(threads[tid])
    return groups


def compare(one, other, by_name):
    """Lines about what differs. Threads are matched by their numbers, or in two runs by names and the order in which they began."""
    left, right = (by(threads, lambda t: t.name if by_name else t.tid) for threads in (one, other))
    lines, strays = [], ([], [])
    for key in sorted(set(left) | set(right), key=str):
        a, b = left.get(key, []), right.get(key, [])
        if len(a) == len(b):
            pairs = (difference(x.name or y.name, x.events, y.events) for x, y in zip(a, b))
            lines += [line for line in pairs if line]
        elif (a or b)[0].name not in ENDLESS:
            strays[0].extend(a)
            strays[1].extend(b)
    # Threads whose names ART forgot are known by what they did.
    if not by_name or sorted(t.events for t in strays[0]) != sorted(t.events for t in strays[1]):
        for side, threads in zip(("one", "the other"), strays):
            lines += [f"thread {t.tid} {t.name}, {len(t.events)} events, is only in {side}" for t in threads]
    return lines


def events(threads):
    return sum(len(t.events) for t in threads.values())
