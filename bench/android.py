"""Android apps: what rewriting one takes, beside apktool, which decodes and builds it. Part of bench/run."""
import json
import os
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20


class AndroidBench:
    """Measurements that bench/run mixes into its Bench."""

    def corpus(self):
        """The APKs that the tests have, by size; the smallest first."""
        folder = os.path.join(self.build, "android", "corpus")
        subprocess.run([os.path.join(HERE, "..", "tests", "android", "corpus"), folder], check=True)
        apks = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".apk")]
        return sorted(apks, key=os.path.getsize)

    def inject(self, apk):
        """Rewrite it: seconds, peak of memory in bytes, report."""
        out = self.path("injected.apk")
        begin = time.monotonic()
        child = subprocess.Popen([self.nanoscope, "inject", "--json", apk, out], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        told = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit("bench: nanoscope inject %s failed" % apk)
        return time.monotonic() - begin, usage.ru_maxrss * 1024, json.loads(told)

    def apktool(self, apk):
        """Decode and build its code with apktool: seconds. Resources stay as they are: the aapt of Debian cannot build
        those of newer apps."""
        folder = self.path("apktool")
        shutil.rmtree(folder, ignore_errors=True)
        begin = time.monotonic()
        for command in (["apktool", "-q", "d", "-r", "-f", "-o", folder, apk],
                        ["apktool", "-q", "b", "-o", self.path("apktool.apk"), folder]):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.monotonic() - begin

    def bench_inject(self):
        """Android apps: rewriting them."""
        before = after = left = 0
        apks = self.corpus()
        for apk in apks:
            seconds, peak, report = self.inject(apk)
            dex, made = report["dex_bytes_before"], report["dex_bytes_after"]
            before, after = before + dex, after + made
            left += report["methods"]["left_alone"]
            self.table.add("inject %s: code" % os.path.basename(apk)[:-4], made / dex, "x", "",
                           "%.2f -> %.2f MiB, %d methods, %.2f s" %
                           (dex / MIB, made / MIB, report["methods"]["recorded"], seconds))
        self.table.add("  code of all apps", after / before, "x", "<= 1.3")
        self.table.add("  methods left alone", left, "", "<= 0")
        rounds = 1 if self.quick else 3
        runs = [self.inject(apks[-1]) for _ in range(rounds)]
        ours = min(seconds for seconds, _, _ in runs)
        dex = runs[0][2]["dex_bytes_before"]
        self.table.add("  the largest app", ours, "s", "", "%.1f MiB of code" % (dex / MIB))
        self.table.add("    memory", max(peak for _, peak, _ in runs) / (4 * dex + 64 * MIB), "of the bound", "<= 1",
                       "%.0f MiB; the bound is 4 times its code and 64 MiB" % (runs[0][1] / MIB))
        if shutil.which("apktool") is None:
            self.table.add("    faster than apktool's decode and build", None, "x", ">= 20", "no apktool here")
            return
        theirs = min(self.apktool(apks[-1]) for _ in range(rounds))
        self.table.add("    faster than apktool's decode and build", theirs / ours, "x", ">= 20", "%.1f s" % theirs)
