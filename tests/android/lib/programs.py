"""The programs of tests/android/programs as apps, and what is special about some of them."""
import os
import tempfile

import droid

FOLDER = os.path.join(droid.HERE, "programs")
# Each app, and its programs.
APPS = {
    "java": ["torture." + os.path.basename(s)[:-5] for s in droid.files_of(os.path.join(FOLDER, "java"), ".java")],
    "smali": ["smali.Flow", "smali.Locks", "smali.Custom"],
    "regs": ["regs.Main"],
    "far": ["far.Main", "far.Enormous"],
    "jumbo": ["jumbo.Main"],
    "full": ["full.Main"],
}
# How deep a stack is before it overflows, and which objects are gone, differs from run to run.
VARIES = {"torture.Overflow", "torture.Finalizers"}
# ART 10 finds no handler beyond 65,535 units while it traces.
UNTRACED = {"far.Enormous"}
# Java compilers make class files of at most 65,535 bytes a method.
HOTSPOT = {"java", "smali"}


def dex(app):
    """The app's dex file, as bytes."""
    if app == "java":
        sources = droid.files_of(os.path.join(FOLDER, "java"), ".java")
        jar = droid.cached("programs/java.jar", sources + [droid.__file__], lambda path: droid.java_dex(sources, path))
        return droid.dex_files(jar)[0][1]
    if app == "smali":
        folder = os.path.join(FOLDER, "smali")
        path = droid.cached("programs/smali.dex", droid.files_of(folder, ".smali"), lambda path: droid.smali_dex(folder, path))
    else:
        source = os.path.join(FOLDER, "generate.py")

        def make(path):
            with tempfile.TemporaryDirectory() as work:
                droid.run("python3", source, work)
                droid.smali_dex(os.path.join(work, app), path)

        path = droid.cached(f"programs/{app}.dex", [source], make)
    with open(path, "rb") as file:
        return file.read()


def apk(app):
    """The app, not rewritten."""
    data = dex(app)

    def make(path):
        droid.make_apk(path, [data])

    return droid.cached(f"programs/{app}.apk", [os.path.join(droid.OUT, "programs", {"java": "java.jar"}.get(app, app + ".dex"))], make)
