"""What must hold of a rewritten APK. Each check is (ok, what, lines that say why not); what ran is in the folder WORK."""
import json
import os
import re
import shutil
import subprocess
import zipfile

import appfile
import dexinfo
import droid
import methodtrace
import programs
import verifying

PAGE = 16384
ROUND_TRIP_MOST = 400000  # bytes of a dex file: larger ones take long


def guarded(task):
    """A tool that fails, or a file that is not what it should be, is a check that failed."""
    try:
        return task()
    except Exception as e:  # pylint: disable=broad-except
        return [(False, f"ended early: {type(e).__name__}", str(e).splitlines()[:12])]


def attempt(*command):
    """A tool's complaints, as lines: none if it has none."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    return [] if done.returncode == 0 else [f"{command[0]}: status {done.returncode}", *done.stdout.splitlines()[-6:]]


def inject(apk, work, *options):
    """The rewritten APK, and the report."""
    os.makedirs(work, exist_ok=True)
    out = os.path.join(work, "traced.apk")
    report = json.loads(droid.run(droid.NANOSCOPE, "inject", "--json", *options, "-o", out, apk))
    return out, report


def page_sizes(apk):
    """Stored libraries must begin at a page."""
    lines = []
    with zipfile.ZipFile(apk) as archive, open(apk, "rb") as file:
        for info in archive.infolist():
            if not info.filename.endswith(".so") or info.compress_type != zipfile.ZIP_STORED:
                continue
            file.seek(info.header_offset + 26)
            name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
            at = info.header_offset + 30 + name + extra
            if at % PAGE:
                lines.append(f"{info.filename} is at {at}, not at a page of {PAGE}")
    return lines


def manifest(apk):
    """The manifest as aapt shows it, without what nanoscope means to change. Numbers of lines and of resources' ids stay."""
    shown = droid.run("aapt", "dump", "xmltree", apk, "AndroidManifest.xml").splitlines()
    return [line for line in shown if "android:debuggable" not in line]


def round_trip(path, work):
    """Disassembled, assembled and disassembled once more: what differs."""
    texts = []
    for turn in ("first", "second"):
        folder = os.path.join(work, turn)
        lines = attempt("baksmali", "disassemble", "-o", folder, path)
        again = os.path.join(work, "again.dex")
        if not lines and turn == "first":
            lines = attempt("smali", "assemble", "--api", "28", "-o", again, folder)
        if lines:
            return lines
        texts.append({os.path.relpath(f, folder): open(f, encoding="utf-8").read() for f in droid.files_of(folder, ".smali")})
        shutil.rmtree(folder)
        path = again
    return [f"differs: {name}" for name in sorted(texts[0] | texts[1]) if texts[0].get(name) != texts[1].get(name)][:5]


def other_tools(old, new, work):
    """What others say of the files."""
    lines, strange = [], []
    for name, data in droid.dex_files(new):
        path = os.path.join(work, name)
        with open(path, "wb") as file:
            file.write(data)
        lines += attempt("dexdump", "-c", path)
        if len(data) < ROUND_TRIP_MOST:
            strange += round_trip(path, work)
    yield not lines, "dexdump finds nothing wrong", lines
    yield not strange, "baksmali and smali take small files there and back", strange
    lines = [line for sdk in ("21", "24", "28", "33") for line in attempt("apksigner", "verify", "--min-sdk-version", sdk, new)]
    yield not lines, "apksigner verifies it for Android 5, 7, 9 and 13", lines
    yield from ((not lines, what, lines) for what, lines in (
        ("zipalign finds it aligned", attempt("zipalign", "-c", "-p", "4", new)),
        ("libraries are at pages of 16 KiB", page_sizes(new)),
        ("unzip finds it whole", attempt("unzip", "-tqq", new))))
    before, after = manifest(old), manifest(new)
    lines = [f"- {x}" for x in before if x not in after] + [f"+ {x}" for x in after if x not in before]
    yield not lines, "its manifest differs only in android:debuggable", lines


def table(apk):
    """{id: signature} of a rewritten APK."""
    with zipfile.ZipFile(apk) as archive:
        return appfile.read_methods(archive.read("assets/nanoscope/methods.txt").decode("utf-8", "surrogatepass"))


def methods_of(apk):
    found = []
    for _, data in droid.dex_files(apk):
        found += dexinfo.Dex(data).with_code()
    return found


def same_table(old, new, left_alone):
    """Is there an id for each method that has code?"""
    _, ids = table(new)
    expected, listed = sorted(methods_of(old)), sorted(ids.values())
    lines = [f"{len(expected)} methods with code, {len(listed)} in the table, {left_alone} left alone"]
    lines += [f"not in the table: {m}" for m in sorted(set(expected) - set(listed))[:5]]
    lines += [f"not in the app: {m}" for m in sorted(set(listed) - set(expected))[:5]]
    return [] if len(expected) - left_alone == len(listed) and set(listed) <= set(expected) else lines


def dex_bytes(apk):
    return sum(len(data) for _, data in droid.dex_files(apk))


def left_alone(report):
    return report["methods"].get("left_alone", report["methods"].get("left", 0))


def common(old, new, report, work):
    left = left_alone(report)
    left = len(left) if isinstance(left, list) else left
    yield left == 0, f"{left} methods left alone", [json.dumps(report)[:2000]] if left else []
    lines = same_table(old, new, left)
    yield not lines, "the table of methods is that of the app", lines
    yield from other_tools(old, new, work)


def corpus(name, apk, work):
    """Of an APK as it is found."""
    new, report = inject(apk, work)
    found = list(common(apk, new, report, work))
    lines = verifying.worse(verifying.before(apk), verifying.verdict(new, droid.libraries(new, work)))
    found.append((not lines, "every class verifies and initialises as before", lines))
    growth = 100 * dex_bytes(new) / dex_bytes(apk) - 100
    # A small app's dex file is mostly its tables.
    found.append((growth <= 30 or dex_bytes(apk) < 100000, f"its dex files grow by {growth:.1f} %", []))
    return [(ok, f"{name}: {text}", why) for ok, text, why in found]


def hushed(text):
    """Output without what differs from run to run."""
    return re.sub(r"@[0-9a-f]{6,8}\b", "@", text)


class Run:
    """One run of a program on ART: traced by ART itself, and by nanoscope if the app is rewritten."""

    def __init__(self, apk, program, work, known, ids=None):
        trace, recording = os.path.join(work, program + ".trace"), os.path.join(work, program + ".nsapp")
        env = {"NANOSCOPE_APP_OUT": recording} if ids else {}
        path, arguments = [droid.helpers(), apk], ("Traced", trace, program)
        if program in programs.UNTRACED:
            path, arguments = [apk], (program,)
        done = droid.on_art(path, *arguments, env=env, libraries=droid.libraries(apk, work) if ids else None)
        self.status, self.out, self.log = done.returncode, hushed(done.stdout), done.stderr
        self.locks = set(re.findall(r"Class (\S+) failed lock verification", done.stderr))
        self.threads = methodtrace.read(trace, known) if "Traced" in arguments and os.path.exists(trace) else {}
        self.recorded, self.lost, self.build = appfile.read(recording, ids) if ids and os.path.exists(recording) else ({}, 0, "")


def program(name, old, new, work, known, ids, build):
    """Before and after, and the calls."""
    before, after = Run(old, name, work, known), Run(new, name, work, known, ids)
    why = [f"status {before.status} and {after.status}", before.out[-500:], "---", after.out[-500:], after.log[-800:]]
    same = before.out == after.out and before.status == after.status == 0
    yield same, "prints the same", [] if same else why
    lines = sorted(after.locks - before.locks)
    yield not lines, "has no locks that ART cannot follow", lines
    yield after.lost == 0 and after.build == build, "nothing is lost, and the recording is of this app", [f"{after.lost} lost, {after.build}"]
    if name in programs.UNTRACED:
        yield bool(after.recorded), "is recorded", after.log.splitlines()[-5:]
        return
    events = methodtrace.events(after.threads)
    lines = methodtrace.compare(after.threads, after.recorded, by_name=False)
    yield not lines and events > 0, f"ART saw what was recorded, {events} events of {len(after.threads)} threads", lines
    if name not in programs.VARIES:
        lines = methodtrace.compare(before.threads, after.threads, by_name=True)
        yield not lines, "its calls are those of the original", lines


def app(name, work):
    """Of programs of ours."""
    old = programs.apk(name)
    new, report = inject(old, work)
    known = set(methods_of(old))
    build, ids = table(new)
    found = list(common(old, new, report, work))
    for one in programs.APPS[name]:
        found += [(ok, f"{one} {text}", why) for ok, text, why in program(one, old, new, work, known, ids, build)]
    return [(ok, text if text.startswith(name) else f"{name}: {text}", why) for ok, text, why in found]
