"""Dex files, APKs and ART, for the tests of tests/android: makes them, runs them. Everything that is made lies under build/android.

What cannot be made raises Failed, whose text is one line and the end of the tool's own words.
"""
import fcntl
import glob
import hashlib
import os
import subprocess
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
HERE = os.path.join(ROOT, "tests/android")
OUT = os.path.join(ROOT, "build/android")
ART = os.path.join(OUT, "art")
CORPUS = os.path.join(OUT, "corpus")
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
NANOSCOPE = os.environ.get("NANOSCOPE", os.path.join(BUILD, "bin/nanoscope"))
STUBS = os.path.join(ART, "android-23.jar")
ASM = ":".join(os.path.join(ART, "java", jar) for jar in ("asm.jar", "asm-commons.jar", "asm-tree.jar"))


class Failed(Exception):
    """A tool failed."""


def run(*command, cwd=None, env=None, timeout=600):
    """Runs a tool; its stdout as text."""
    done = subprocess.run(command, cwd=cwd, env=env, timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, errors="replace", check=False)
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-12:])
        raise Failed(f"{' '.join(command[:4])}: status {done.returncode}\n{tail}")
    return done.stdout


def cached(name, inputs, make):
    """OUT/NAME, made by make(path) when its inputs (files, or texts) have changed; two processes may ask at once."""
    path = os.path.join(OUT, name)
    state = hashlib.sha256()
    for item in inputs:
        if os.path.exists(item):
            with open(item, "rb") as file:
                state.update(file.read())
        else:
            state.update(item.encode())
    stamp = path + ".stamp"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(path) and os.path.exists(stamp):
            with open(stamp, encoding="ascii") as file:
                if file.read() == state.hexdigest():
                    return path
        new = path + ".new"
        if os.path.exists(new):
            os.remove(new)
        make(new)
        os.replace(new, path)
        with open(stamp, "w", encoding="ascii") as file:
            file.write(state.hexdigest())
    return path


def files_of(folder, suffix):
    return sorted(glob.glob(os.path.join(folder, "**/*" + suffix), recursive=True))


def dx(folder, out, *options):
    """Class files as a jar of one dex file."""
    run("java", "-Xmx1g", "-cp", os.path.join(ART, "java/dx.jar"), "com.android.dx.command.Main", "--dex", *options,
        "--output=" + out, folder)


def java_dex(sources, out, against=None, level=26):
    """Java sources as a jar with classes.dex; lambdas become classes."""
    with tempfile.TemporaryDirectory() as work:
        classes, plain = work + "/classes", work + "/plain"
        os.makedirs(plain)
        run("javac", "-nowarn", "-g", "-source", "8", "-target", "8", "-encoding", "UTF-8", "-d", classes,
            *(["-cp", against] if against else []), *sources)
        run("java", "-cp", os.path.join(ART, "java/tools") + ":" + ASM, "Desugar", classes, plain)
        dx(plain, work + "/out.jar", f"--min-sdk-version={level}")
        os.rename(work + "/out.jar", out + ".jar")
    os.replace(out + ".jar", out)


def smali_dex(folder, out, level=26):
    """A folder of smali as a dex file."""
    run("smali", "assemble", "--api", str(level), "-o", out, folder)


def helpers():
    """The programs of java/, as a jar for ART."""
    sources = files_of(os.path.join(HERE, "java"), ".java")

    def make(path):
        own = [s for s in sources if "/stubs/" not in s]
        stubs = [s for s in sources if "/stubs/" in s]
        with tempfile.TemporaryDirectory() as work:
            run("javac", "-nowarn", "-source", "8", "-target", "8", "-d", work, *stubs)
            java_dex(own, path, against=work)

    return cached("helpers.jar", sources + [__file__], make)


def make_apk(out, dexes, extra=()):
    """An APK of dex files (bytes), in their order, with a manifest that tools can read."""
    with zipfile.ZipFile(os.path.join(CORPUS, "hello.apk")) as hello:
        manifest = hello.read("AndroidManifest.xml")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as apk:
        apk.writestr(zipfile.ZipInfo("AndroidManifest.xml"), manifest, zipfile.ZIP_DEFLATED)
        for i, dex in enumerate(dexes):
            apk.writestr(zipfile.ZipInfo(f"classes{i + 1 if i else ''}.dex"), dex, zipfile.ZIP_DEFLATED)
        for name, data in extra:
            apk.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def dex_files(apk):
    """(name, bytes) of the dex files of an APK, in the order in which Android takes them."""
    with zipfile.ZipFile(apk) as archive:
        names = [n for n in archive.namelist() if n.startswith("classes") and n.endswith(".dex") and "/" not in n]
        names.sort(key=lambda n: int(n[len("classes"):-len(".dex")] or 1))
        return [(n, archive.read(n)) for n in names]


def on_art(path, *arguments, options=(), libraries=None, env=None, timeout=600):
    """Runs a program on ART; the finished process, its output as text."""
    environment = dict(os.environ, **(env or {}))
    extra = list(options)
    if libraries:
        environment["LD_LIBRARY_PATH"] = libraries
        extra.append("-Djava.library.path=" + libraries)
    environment["VM_OPTIONS"] = " ".join(extra)
    return subprocess.run([os.path.join(ART, "run"), ":".join(path), *arguments], env=environment, timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace", check=False)


def libraries(apk, folder):
    """Where ART finds the native library of a rewritten app: FOLDER, with what stands in for Android's own libraries."""
    with zipfile.ZipFile(apk) as archive:
        for name in archive.namelist():
            if name.startswith("lib/x86_64/"):
                with open(os.path.join(folder, os.path.basename(name)), "wb") as out:
                    out.write(archive.read(name))
    for name in ("libc", "liblog"):
        source = os.path.join(HERE, "shim", name + ".c")
        shim = cached(f"shim/{name}.so", [source, __file__],
                      lambda path, s=source, n=name: run("cc", "-O1", "-fPIC", "-shared", f"-Wl,-soname,{n}.so", "-o", path, s))
        if not os.path.exists(os.path.join(folder, name + ".so")):
            os.symlink(shim, os.path.join(folder, name + ".so"))
    return folder
