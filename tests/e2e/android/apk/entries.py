#!/usr/bin/env python3
"""usage: entries.py BEFORE AFTER

Is AFTER the APK BEFORE, signed anew? Entries keep their packed bytes, method, time and CRC, except for old signatures
(gone) and a resources.arsc that was deflated (stored); what is stored is aligned. Prints what is wrong.
"""
import struct
import sys
import zipfile


def packed(file, info):
    file.seek(info.header_offset)
    head = file.read(30)
    name, extra = struct.unpack("<HH", head[26:30])
    at = info.header_offset + 30 + name + extra
    file.seek(at)
    return at, file.read(info.compress_size)


def is_signature(name):
    folder, _, last = name.upper().rpartition("/")
    return folder == "META-INF" and (last == "MANIFEST.MF" or last.endswith((".SF", ".RSA", ".DSA", ".EC")))


def entries(path):
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        return {i.filename: (i, *packed(file, i)) for i in archive.infolist()}


before, after = entries(sys.argv[1]), entries(sys.argv[2])
for name, (old, _, data) in before.items():
    if is_signature(name):
        continue
    if name not in after:
        print(f"{name} is gone")
        continue
    new, _, copy = after[name]
    stored_now = name == "resources.arsc" and old.compress_type != 0
    if old.CRC != new.CRC or old.file_size != new.file_size:
        print(f"{name} has changed")
    elif not stored_now and (copy != data or old.date_time != new.date_time or old.compress_type != new.compress_type):
        print(f"{name} was not copied as it is")
for name, (new, at, _) in after.items():
    wanted = 16384 if name.endswith(".so") else 4
    if new.compress_type == 0 and new.file_size > 0 and at % wanted:
        print(f"{name} lies at {at}, not at a multiple of {wanted}")
    if new.flag_bits & 8:
        print(f"{name} has a data descriptor")
    if name not in before and not is_signature(name):
        print(f"{name} is new")
