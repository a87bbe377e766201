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
    put("hole.apk", entries + [("classes3.dex", dex), ("classes02.dex", dex), ("classes1.dex", dex)])
    put("dex-text.apk", changed("classes.dex", b"no dex file " * 20))
    put("dex-cut.apk", changed("classes.dex", dex[:len(dex) // 2]))
    put("dex-short.apk", changed("classes.dex", dex[:50]))
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
