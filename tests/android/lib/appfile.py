"""What the library in a rewritten app recorded, read by src/shared/abi/app_recording.h alone: a second reader beside nanoscope's importer."""
import struct

from methodtrace import Thread

MAGIC = 0x003150504143534E
THREAD, EVENTS, END = 1, 2, 3
ID_MAX = 0x7FFEFFFF


class Broken(Exception):
    """Not a recording, or not a whole one."""


def read_methods(text):
    """(fingerprint, {id: signature}) of a table of methods; ids must count from 1."""
    lines = text.split("\n")
    if lines[0] != "nanoscope methods 1" or not lines[1].startswith("build ") or lines[-1] != "":
        raise Broken("not a table of methods: " + lines[0])
    methods = {}
    for line in lines[2:-1]:
        number, signature = line.split("\t")[:2]
        if int(number) != len(methods) + 1:
            raise Broken(f"ids do not count on at {line}")
        methods[int(number)] = signature
    return lines[1][len("build "):], methods


def read(path, methods):
    """({tid: Thread}, events lost, fingerprint). Two threads of one number follow each other: their events do, too."""
    with open(path, "rb") as file:
        data = file.read()
    magic, version, header_bytes, event_bytes = struct.unpack_from("<QIII", data)
    if magic != MAGIC or version != 1 or event_bytes != 8:
        raise Broken(f"{path}: not a recording")
    build = data[72:136].split(b"\0")[0].decode()
    at, threads, lost, ended = header_bytes, {}, 0, False
    while at < len(data) and not ended:
        kind, size, number, _ = struct.unpack_from("<4I", data, at)
        body = data[at + 16:at + 16 + size]
        at += 16 + size
        if kind == THREAD:
            _, _, gone, tid, _ = struct.unpack_from("<QQQII", body)
            lost += gone
            threads[number] = Thread(tid, body[32:64].split(b"\0")[0].decode("utf-8", "replace"))
        elif kind == EVENTS:
            events = threads[number].events
            for (word,) in struct.iter_unpack("<Q", body):
                method = word >> 32 & 0x7FFFFFFF
                if word and method <= ID_MAX:
                    events.append("" if word >> 63 else methods[method])
        elif kind == END:
            lost += struct.unpack_from("<Q", body, 40)[0]
            ended = True
    if not ended or at != len(data):
        raise Broken(f"{path}: cut")
    found = {}
    for thread in threads.values():
        if thread.events:
            found.setdefault(thread.tid, Thread(thread.tid, thread.name)).events.extend(thread.events)
    return found, lost, build
