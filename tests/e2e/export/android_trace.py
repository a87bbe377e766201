"""Write method traces as Android's runtimes do, and what they say, without any of nanoscope's code.

usage: android_trace.py KIND OUT
  1, 2, 3, cpu      by version and clock
  stream, stream3   written while it ran, the records of each thread in bunches
  long, longstream  of hours, with threads that begin late and that pause
  apart             streamed, of 50 minutes; a thread's records all come at the end
  many              more methods than a thousand, their numbers far from each other
Prints a line for each function: name, calls, total and self in ns, as formats_read.py's report does. OUT.threads gets one for each
thread: tid, beginning of its first call and end of its last one, in ns since the first of all.
"""
import random
import struct
import sys

METHODS = [  # class, name, signature, file, line, and how ART would write the name
    ("com/example/Main", "main", "([Ljava/lang/String;)V", "Main.java", 12, "void com.example.Main.main(java.lang.String[])"),
    ("com/example/View", "<init>", "(IJ[[Z)V", "View.java", 3, "void com.example.View.<init>(int, long, boolean[][])"),
    ("com/example/View", "draw", "()Landroid/graphics/Bitmap;", "View.java", 40, "android.graphics.Bitmap com.example.View.draw()"),
    ("java/lang/Object", "wait", "(JI)V", "Object.java", -1, "void java.lang.Object.wait(long, int)"),
    ("com/example/Ünïcode", "λ", "(D)F", "U.kt", 1, "float com.example.Ünïcode.λ(double)"),
    ("com/example/</script>", "odd", "not a signature", "X.java", 1, "com.example.<.script>.oddnot a signature"),
]
THREADS = {1: "main", 11: "AsyncTask #1", 200: "Thread <b>"}
ENTER, EXIT, UNROLL = 0, 1, 2


def number(method):
    return 0x1000 + 4 * method


class Calls:
    """Random calls of some threads, in order of time, and their sums."""

    def __init__(self, seed, count):
        rnd, self.records, self.sums = random.Random(seed), [], {}
        stacks, now = {tid: [] for tid in THREADS}, 5
        for i in range(count):
            tid = rnd.choice(list(THREADS))
            stack, now = stacks[tid], now + rnd.choice([0, 1, 3, 50])
            if i == count // 2:
                now += 3_000_000_000  # 50 minutes: in the end more than 32 bits hold
            elif i == count * 3 // 4:
                now += 2_000_000_000
            if len(stack) < 30 and (not stack or rnd.random() < 0.52):
                method = rnd.randrange(len(METHODS))
                stack.append([method, now, 0])
                self.records.append((tid, method, ENTER, now))
            else:
                self.leave(tid, stack, now, UNROLL if rnd.random() < 0.1 else EXIT)
        for tid, stack in stacks.items():
            while stack:
                now += 2
                self.leave(tid, stack, now, EXIT)

    def leave(self, tid, stack, now, action):
        method, start, inside = stack.pop()
        self.records.append((tid, method, action, now))
        row = self.sums.setdefault(METHODS[method][5], [0, 0, 0])
        row[0] += 1
        row[1] += 0 if any(call[0] == method for call in stack) else now - start
        row[2] += now - start - inside
        if stack:
            stack[-1][2] += now - start


class Hours(Calls):
    """Calls of one method after the other: of main for ever, of others when their time has come."""

    MINUTE = 60_000_000

    def __init__(self, apart):
        self.records, self.sums = [], {}
        if apart:
            spans = {1: [(0, 50)], 11: [(1, 49)], 200: [(20, 21)]}
        else:  # nobody does anything from 155 to 205
            spans = {1: [(0, 155), (205, 210)], 11: [(80, 85), (144, 150)], 12: [(0, 1), (145, 150)], 13: [(72, 73)],
                     200: [(151, 155), (206, 208)]}
        moments = sorted((at * self.MINUTE // 60 + tid, tid) for tid, parts in spans.items()
                         for first, last in parts for at in range(first * 60, last * 60))
        for now, tid in moments:
            method = now % len(METHODS)
            self.records.append((tid, method, ENTER, now))
            self.leave(tid, [[method, now, 0]], now + 500_000, EXIT)
        self.records.sort(key=lambda record: record[3])


class Many(Calls):
    """Methods that are called often; the numbers of all that there are leave no low bits to tell them by."""

    STRIDE, COUNT = 0x10000, 65_000

    def __init__(self):
        self.records, self.sums = [], {"void A.run()": [20 * self.COUNT] * 3}
        for i in range(20 * self.COUNT):
            self.records += [(1, i * 7919 % self.COUNT, ENTER, i), (1, i * 7919 % self.COUNT, EXIT, i + 1)]

    def data(self):
        lines = "".join(f"{i * self.STRIDE:#x}\tA\trun\t()V\tA.java\n" for i in range(self.COUNT))
        text = f"*version\n2\nclock=wall\n*threads\n1\tmain\n*methods\n{lines}*end\n".encode()
        return text + binary_header(2, 10) + b"".join(
            struct.pack("<HII", tid, method * self.STRIDE | action, at) for tid, method, action, at in self.records)


def thread_lines(calls):
    first, last = {}, {}
    for tid, _, _, at in calls.records:
        first.setdefault(tid, at)
        last[tid] = at
    return "".join(f"{tid},{(first[tid] - min(first.values())) * 1000},{(last[tid] - min(first.values())) * 1000}\n" for tid in sorted(first))


def method_line(method, version):
    class_name, name, signature, file, line, _ = METHODS[method]
    if version < 3:  # ART: classes with dots, no line
        return f"{number(method):#x}\t{class_name.replace('/', '.')}\t{name}\t{signature}\t{file}\n"
    return f"0x{number(method):08x}\t{class_name}\t{name}\t{signature}\t{file}\t{line}\n"


def head(version, clock, with_methods):
    text = f"*version\n{version}\ndata-file-overflow=false\nclock={clock}\nelapsed-time-usec=77\nnum-method-calls=9\n"
    text += "clock-call-overhead-nsec=123\nvm=art\npid=4321\n*threads\n"
    text += "".join(f"{tid}\t{name}\n" for tid, name in THREADS.items())
    if with_methods:
        text += "*methods\n" + "".join(method_line(m, version) for m in range(len(METHODS)))
    return (text + "*end\n").encode()


def binary_header(version, size):
    return struct.pack("<4sHHQH", b"SLOW", version, 32, 1_700_000_000_000_000, size).ljust(32, b"\0")


def record(version, tid, method, action, at):
    low, word = at & 0xFFFFFFFF, number(method) | action
    if version == 1:
        return struct.pack("<BII", tid, word, low)
    if version == 2:
        return struct.pack("<HII", tid, word, low)
    return struct.pack("<HIII", tid, word, (at // 2) & 0xFFFFFFFF, low)


def stream(calls, version, bunch):
    """A thread's records come in bunches of so many: those of one bunch may be earlier than those of the one before."""
    out, seen, threads = [binary_header(version | 0xF0, 10 if version == 2 else 14)], set(), set()
    waiting = {tid: [] for tid, _, _, _ in sorted(calls.records)}

    def flush(tid):
        for method, action, at in waiting[tid]:
            if method not in seen:
                line = method_line(method, version).encode()
                out.append(struct.pack("<HBH", 0, 1, len(line)) + line)
                seen.add(method)
            out.append(record(version, tid, method, action, at))
        waiting[tid].clear()

    for tid, method, action, at in calls.records:
        if tid not in threads:
            name = THREADS.get(tid, "late").encode()
            out.append(struct.pack("<HBHH", 0, 2, tid, len(name)) + name)
            threads.add(tid)
        waiting[tid].append((method, action, at))
        if len(waiting[tid]) >= bunch:
            flush(tid)
    for tid in waiting:
        flush(tid)
    summary = head(version, "dual" if version == 3 else "wall", False)
    out.append(struct.pack("<HBI", 0, 3, len(summary)) + summary)
    return b"".join(out)


def main():
    kind, path = sys.argv[1:]
    calls = Many() if kind == "many" else Hours(kind == "apart") if kind in ("long", "longstream", "apart") else Calls(kind, 4000)
    if kind == "many":
        data = calls.data()
    elif kind.endswith("stream") or kind in ("stream3", "apart"):
        data = stream(calls, 3 if kind == "stream3" else 2, {"longstream": 1, "apart": 5000}.get(kind, 18))
    else:
        version = int(kind) if kind.isdigit() else 2
        clock = {"3": "dual", "cpu": "thread-cpu"}.get(kind, "wall")
        data = head(version, clock, True) + binary_header(version, {1: 9, 2: 10, 3: 14}[version])
        data += b"".join(record(version, *r) for r in calls.records)
    with open(path, "wb") as file:
        file.write(data)
    with open(path + ".threads", "w", encoding="utf8") as file:
        file.write(thread_lines(calls))
    for name, (count, total, own) in sorted(calls.sums.items()):
        print(f"{name} {count} {total * 1000} {own * 1000}")


main()
