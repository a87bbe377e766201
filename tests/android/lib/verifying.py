"""Every class of an APK on ART: which of them do not verify or initialise, and what ART says against the code."""
import os
import re
import shutil
import tempfile
import zipfile

import droid

HOOKS = "dev.nanoscope.Hooks"


class Verdict:
    """classes: {name: "ok" or an exception}. soft: methods that ART checks at run time, as it cannot before. locks: classes whose
    monitors it could not follow."""

    def __init__(self, out, log):
        self.classes = {}
        self.why = {}
        for line in out.splitlines():
            what, name = line.split(" ", 1)
            name, _, self.why[name] = name.partition(": ")
            self.classes[name] = what
        self.soft = set(re.findall(r"Soft verification failures in (.*)", log))
        self.locks = set(re.findall(r"Class (\S+) failed lock verification", log))


def run(apk, libraries=None):
    """Of a copy without its signature: core classes that read one of the first kind want ciphers, which this ART has none of."""
    with tempfile.TemporaryDirectory() as work:
        copy = os.path.join(work, "app.apk")
        shutil.copyfile(apk, copy)
        with zipfile.ZipFile(copy) as archive:
            signature = [n for n in archive.namelist() if re.fullmatch(r"META-INF/([^/]*\.(SF|RSA|DSA|EC)|MANIFEST\.MF)", n)]
        if signature:
            droid.run("zip", "-q", "-d", copy, *signature)
        done = droid.on_art([droid.helpers(), copy, droid.STUBS], "Verify", copy, options=["-verbose:verifier"], libraries=libraries)
    if done.returncode != 0 or not done.stdout:
        raise droid.Failed(f"{apk}: ART ended with {done.returncode}: {done.stderr[-300:]}")
    return done.stdout, done.stderr


def verdict(apk, libraries=None):
    return Verdict(*run(apk, libraries))


def before(apk):
    """The same of an original: kept, as it is asked for again and again."""
    def make(path):
        out, log = run(apk)
        lines = [x for x in log.splitlines() if "Soft verification failures" in x or "failed lock verification" in x]
        with open(path, "w", encoding="utf-8") as file:
            file.write(out + "\0" + "\n".join(lines))

    name = apk.rsplit("/", 1)[-1]
    with open(droid.cached(f"verified/{name}", [apk, droid.helpers(), __file__], make), encoding="utf-8") as file:
        return Verdict(*file.read().split("\0", 1))


def worse(old, new):
    """Lines about what is worse than it was."""
    lines = []
    names = set(new.classes) - {HOOKS}
    for name in sorted(set(old.classes) ^ names):
        lines.append(f"class {name} is only {'before' if name in old.classes else 'after'}")
    for name in sorted(names & set(old.classes)):
        if new.classes[name] not in ("ok", old.classes[name]):
            lines.append(f"class {name} was {old.classes[name]}, is {new.classes[name]}: {new.why[name]}")
    if HOOKS in new.classes and new.classes[HOOKS] != "ok":
        lines.append(f"{HOOKS}: {new.classes[HOOKS]}: {new.why[HOOKS]}")
    lines += [f"soft failure in {m}" for m in sorted(new.soft - old.soft)]
    lines += [f"locks of {c} cannot be followed" for c in sorted(new.locks - old.locks)]
    return lines
