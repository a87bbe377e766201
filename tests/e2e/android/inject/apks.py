#!/usr/bin/env python3
"""usage: apks.py HELLO.apk FOLDER    writes into FOLDER what `nanoscope inject` must refuse or take, made of HELLO.apk"""
import os
import struct
import sys
import zipfile
import zlib


def make(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in entries:
            method = zipfile.ZIP_STORED if name.endswith(".stored") else zipfile.ZIP_DEFLATED
            z.writestr(zipfile.ZipInfo(name.removesuffix(".stored"), (2020, 1, 1, 0, 0, 0)), data, method)


def resum(dex):
    """The dex file with its Adler-32 right; the SHA-1 is wrong in many real ones."""
    return dex[:8] + struct.pack("<I", zlib.adler32(dex[12:])) + dex[12:]


def full_dex():
    """A dex file with all the 65,536 references to methods that one can have; the first has code, of one instruction."""
    count = 65536
    strings = ["LFull;", "Ljava/lang/Object;", "V"] + [f"m{i:05}" for i in range(count)]
    data_off = 0x70 + 4 * len(strings) + 4 * 3 + 12 + 8 * count + 32
    data, offsets = bytearray(), []
    code_off = data_off
    data += struct.pack("<HHHHIIHH", 0, 0, 0, 0, 0, 1, 0x0e, 0)
    class_off = data_off + len(data)
    data += bytes([0, 0, 1, 0, 0, 9])  # fields, methods; the first: public static,
    while code_off:
        data.append(code_off & 127 | (128 if code_off > 127 else 0))
        code_off >>= 7
    strings_off = data_off + len(data)
    for text in strings:
        offsets.append(data_off + len(data))
        data += bytes([len(text)]) + text.encode() + b"\0"
    data += bytes(-len(data) % 4)
    map_off = data_off + len(data)
    types_off = 0x70 + 4 * len(strings)
    protos_off, methods_off, classes_off = types_off + 12, types_off + 24, types_off + 24 + 8 * count
    items = [(0, 1, 0), (1, len(strings), 0x70), (2, 3, types_off), (3, 1, protos_off), (5, count, methods_off), (6, 1, classes_off),
             (0x2001, 1, data_off), (0x2000, 1, class_off), (0x2002, len(strings), strings_off), (0x1000, 1, map_off)]
    data += struct.pack("<I", len(items)) + b"".join(struct.pack("<HHII", kind, 0, n, off) for kind, n, off in items)
    ids = struct.pack(f"<{len(strings)}I", *offsets) + struct.pack("<III", 0, 1, 2) + struct.pack("<III", 2, 2, 0)
    ids += b"".join(struct.pack("<HHI", 0, 0, 3 + i) for i in range(count))
    ids += struct.pack("<8I", 0, 1, 1, 0, 0xffffffff, 0, class_off, 0)
    head = struct.pack("<20I", data_off + len(data), 0x70, 0x12345678, 0, 0, map_off, len(strings), 0x70, 3, types_off, 1, protos_off,
                       0, 0, count, methods_off, 1, classes_off, len(data), data_off)
    return resum(b"dex\n035\0" + bytes(24) + head + ids + data)


def packed(dex):
    """The dex file with something behind its items, as packers put it there."""
    added = b"a payload that somebody looks for"
    size, data = struct.unpack_from("<I", dex, 32)[0], struct.unpack_from("<I", dex, 104)[0]
    return resum(dex[:32] + struct.pack("<I", size + len(added)) + dex[36:104] + struct.pack("<I", data + len(added)) +
                 dex[108:] + added)


def main():
    with zipfile.ZipFile(sys.argv[1]) as z:
        entries = [(n, z.read(n)) for n in z.namelist() if not n.startswith("META-INF/")]
    folder = sys.argv[2]
    content = dict(entries)
    dex = content["classes.dex"]

    def put(name, items):
        make(os.path.join(folder, name), items)

    def without(*names):
        return [e for e in entries if e[0] not in names]

    def changed(name, data):
        return [(n, data if n == name else d) for n, d in entries]

    def file(name, data):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)

    put("plain.apk", entries)
    file("text.apk", b"This is no archive.\n" * 20)
    file("empty.apk", b"")
    put("other.zip", [("readme.txt", b"hello")])
    put("no-code.apk", without("classes.dex"))
    put("bundle.aab", [("BundleConfig.pb", b"\n\0"), ("base/manifest/AndroidManifest.xml", b"\n\0"),
                       ("base/dex/classes.dex", dex)])
    put("parts.xapk", [("manifest.json", b"{}"), ("base.apk", b"PK"), ("config.arm64_v8a.apk", b"PK")])
    put("parts.apks", [("toc.pb", b"\n"), ("splits/base-master.apk", b"PK")])
    put("mips.apk", entries + [("lib/mips/libx.so", b"\x7fELF")])
    put("riscv.apk", entries + [("lib/riscv64/libx.so", b"\x7fELF")])
    put("mips-arm.apk", entries + [("lib/mips/libx.so", b"\x7fELF"), ("lib/armeabi/libx.so", b"\x7fELF")])
    put("armeabi.apk", entries + [("lib/armeabi/libx.so", b"\x7fELF")])
    put("arm64.apk", entries + [("lib/arm64-v8a/libx.so.stored", b"\x7fELF")])
    put("no-library.apk", entries + [("lib/readme.txt", b"x"), ("lib/x86/notes.txt", b"x")])
    put("two.apk", entries + [("classes2.dex", dex)])
    put("full.apk", entries + [("classes2.dex", full_dex())])
    put("packed.apk", entries + [("classes2.dex", packed(dex))])
    put("hole.apk", entries + [("classes2.dex", dex), ("classes4.dex", dex)])
    put("wide-hole.apk", entries + [("classes4.dex", dex), ("classes02.dex", dex), ("classes1.dex", dex)])
    put("stored.apk", [(n + ".stored" if n == "classes.dex" else n, d) for n, d in entries])
    put("dex-text.apk", changed("classes.dex", b"no dex file " * 20))
    put("dex-cut.apk", changed("classes.dex", dex[:len(dex) // 2]))
    put("dex-short.apk", changed("classes.dex", dex[:50]))
    put("dex-bomb.apk", changed("classes.dex", bytes(513 << 20)))
    put("dex-version.apk", changed("classes.dex", resum(dex[:4] + b"099\0" + dex[8:])))
    put("manifest-text.apk", changed("AndroidManifest.xml", b"<manifest/>"))
    put("manifest-cut.apk", changed("AndroidManifest.xml", content["AndroidManifest.xml"][:200]))
    put("manifest-empty.apk", changed("AndroidManifest.xml", b""))
    with zipfile.ZipFile(os.path.join(folder, "twice.apk"), "w") as z:
        import warnings
        warnings.simplefilter("ignore")
        for name, data in entries + [("classes.dex", dex)]:
            z.writestr(name, data)


if __name__ == "__main__":
    main()
