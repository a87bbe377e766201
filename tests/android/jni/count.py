"""count.py RECORDING: what a recording holds, read without nanoscope: events, losses, threads, a line each."""
import struct
import sys

with open(sys.argv[1], "rb") as f:
    data = f.read()
assert data[:8] == b"NSCAPP1\0"
at = struct.unpack_from("<I", data, 12)[0]
events = lost = told = threads = end = 0
while at < len(data):
    kind, size, number, high = struct.unpack_from("<IIII", data, at)
    payload = data[at + 16 : at + 16 + size]
    at += 16 + size
    if kind == 1:
        assert number == threads
        threads += 1
        lost += struct.unpack_from("<Q", payload, 16)[0]
    elif kind == 2:
        assert number == threads - 1
        for (word,) in struct.iter_unpack("<Q", payload):
            code = word >> 32 & 0x7FFFFFFF
            if code == 0x7FFF0001:
                told += word & 0xFFFFFFFF
            elif 0 < code < 0x7FFF0000:
                events += 1
    elif kind == 3:
        lost += struct.unpack_from("<Q", payload, 40)[0]
        assert struct.unpack_from("<I", payload, 48)[0] == threads
        assert at == len(data)
        end = 1
assert end and told <= lost
print("events", events)
print("lost", lost)
print("emitted", events + lost)
print("threads", threads)
