"""What looking at traces costs: the index, the server, the page in a browser, and other tools that read the same calls.

Used by bench/run, whose Bench has the programs, folders and table that these measurements need.
"""
import json
import os
import shutil
import statistics
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SPEEDSCOPE = "node_modules/speedscope/dist/release/index.html"


def seconds(command, rounds=3):
    """The least time that a command takes; None if it fails."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
        if done.returncode != 0:
            return None
    return min(times)


class ViewBench:
    """Measurements that bench/run mixes into its Bench."""

    def made(self, kind, millions):
        """A trace of a made-up program, of so many million events."""
        path = self.path("%s-%d.nst" % (kind, millions))
        if path not in self.traces:
            subprocess.run([self.inner("view_bench"), kind, str(millions), path], check=True)
            self.traces.add(path)
        return path

    def bench_view(self):
        """The index of long traces: what it costs, and pictures and reports of any window from it."""
        program = self.inner("view_bench")
        for millions, name in ((10, "1e7"),) + (() if self.quick else ((1000, "1e9"),)):
            words = subprocess.run([program, str(millions), self.path("view.nst")], check=True,
                                   stdout=subprocess.PIPE, text=True).stdout.split()
            figures = dict(w.split("=") for w in words)
            self.table.add("%s events: size" % name, float(figures["bytes_per_call"]), "bytes a call", "",
                           "of them index: %s" % figures["index_bytes_per_call"])
            self.table.add("  open", float(figures["open_s"]), "s", "<= 0.3")
            self.table.add("  report of everything", float(figures["report_all_s"]), "s",
                           "<= 0.05" if millions == 10 else "<= 1")
            self.table.add("  report of a window, longest of 20", float(figures["report_window_s"]), "s",
                           "<= 0.05" if millions == 10 else "<= 1")
            self.table.add("  rows of a picture, longest of 20", float(figures["picture_s"]), "s")
        for kind in ("regular", "random"):
            trace = self.made(kind, 10)
            self.table.add("two traces of 1e7 events compared, %s program" % kind,
                           seconds([self.nanoscope, "diff", trace, trace]), "s", "<= 2")
        grouped = "SELECT function_id, count(*), sum(self_ns) FROM calls GROUP BY function_id"
        self.table.add("SQL over 1e7 events: calls and self time by function",
                       seconds([self.nanoscope, "query", grouped, self.made("regular", 10)]), "s")

    # ---- In a browser -----------------------------------------------------------------------

    def packages(self, name, source):
        """Packages of npm's for a measurement, or None where they cannot be had."""
        folder = os.path.join(self.build, name)
        done = subprocess.run([os.path.join(ROOT, "tools", "viewer"), "packages", folder, source], cwd=ROOT)
        return folder if done.returncode == 0 else None

    def browser(self, folder, *arguments):
        """Name -> figure, as bench/browser.js prints them."""
        env = dict(os.environ, NODE_PATH=os.path.join(folder, "node_modules"), BUILD=self.build)
        done = subprocess.run(["node", os.path.join(HERE, "browser.js")] + list(arguments), env=env,
                              stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            return None
        return {k: float(v) for k, v in (word.split("=") for word in done.stdout.split())}

    def medians(self, folder, *arguments):
        runs = [self.browser(folder, *arguments) for _ in range(1 if self.quick else 3)]
        runs = [r for r in runs if r is not None]
        return {k: statistics.median(r[k] for r in runs) for k in runs[0]} if runs else None

    def bench_browser(self):
        """The page of `nanoscope open` in Chromium: how soon it is there, how evenly it moves, and memory."""
        folder = self.packages("viewer-tests", "tests/viewer")
        if folder is None or not shutil.which(os.environ.get("CHROMIUM", "chromium")):
            self.table.add("viewer in a browser", None, note="no Chromium or no node: tools/deps bench")
            return
        self.browse(folder, 10, "1e7", "<= 1", "<= 150")
        if not self.quick:
            self.browse(folder, 1000, "1e9", "<= 1", "<= 200")
        self.bench_speedscope(folder)

    def browse(self, folder, millions, name, soon, memory):
        figures = self.medians(folder, "--frames", self.made("regular", millions))
        if figures is None:
            self.table.add("%s events in the browser" % name, None, note="failed")
            return
        self.table.add("%s events in the browser: command to all calls painted" % name, figures["open_s"],
                       "s", soon, "server %.3f, page %.3f" % (figures["server_s"], figures["page_s"]))
        self.table.add("  server there", figures["server_s"], "s", "<= 0.3")
        self.table.add("  frame while zooming and panning, p95", figures["frame_p95_ms"], "ms", "<= 18",
                       "p50 %.1f; an empty page has p95 %.1f; own painting p95 %.1f"
                       % (figures["frame_p50_ms"], figures["empty_p95_ms"], figures["paint_p95_ms"]))
        self.table.add("  browser's memory for the page", figures["browser_MiB"], "MiB", memory)
        self.table.add("  server's own memory, most", figures["server_MiB"], "MiB", "<= 50")

    def bench_page(self):
        """The one-file page of a trace, opened from the disk."""
        folder = self.packages("viewer-tests", "tests/viewer")
        page = self.path("trace.html")
        export = [self.nanoscope, "export", "-o", page, self.made("regular", 10)]
        made = seconds(export, 1)
        figures = self.medians(folder, "--page", page) if folder is not None and made is not None else None
        if figures is None:
            self.table.add("one-file page", None, note="no Chromium, no node or no engine: tools/deps bench")
            return
        self.table.add("1e7 events as one page: size", os.path.getsize(page) / 1e6, "MB", "<= 30",
                       "exported in %.1f s" % made)
        self.table.add("  from the disk to all calls painted", figures["open_s"], "s", "<= 1.5")
        self.table.add("  frame while zooming and panning, p95", figures["frame_p95_ms"], "ms", "<= 18",
                       "p50 %.1f; an empty page has p95 %.1f; own painting p95 %.1f"
                       % (figures["frame_p50_ms"], figures["empty_p95_ms"], figures["paint_p95_ms"]))
        self.table.add("  report of a third", figures["report_s"], "s")
        self.table.add("  browser's memory for the page", figures["browser_MiB"], "MiB")
        os.unlink(page)

    def bench_speedscope(self, folder):
        """The same calls in speedscope: what it was given is its own format, which it reads fastest."""
        peers = self.packages("peers", "bench/peers")
        if peers is None:
            self.table.add("speedscope", None, note="npm has it not here")
            return
        trace = self.made("regular", 1 if self.quick else 10)
        calls = self.path("calls.speedscope.json")
        subprocess.run([self.nanoscope, "export", "--format", "speedscope", "-o", calls, trace], check=True,
                       stdout=subprocess.DEVNULL)
        ours = self.browser(folder, trace)
        theirs = self.browser(folder, "--speedscope", os.path.join(peers, SPEEDSCOPE), calls)
        os.unlink(calls)
        events = "1e6" if self.quick else "1e7"
        if ours is None or theirs is None:
            self.table.add("speedscope with %s events" % events, None, note="does not show them in 2 minutes")
            return
        self.table.add("speedscope with %s events: time / ours" % events, theirs["open_s"] / ours["open_s"], "x",
                       "", "%.1f s and %.0f MiB, ours %.2f s and %.0f MiB"
                       % (theirs["open_s"], theirs["browser_MiB"], ours["open_s"], ours["browser_MiB"]))

    # ---- Other formats ----------------------------------------------------------------------

    def reported(self, trace):
        """Function -> calls, their time, the least and the greatest; of one name several are one."""
        said = subprocess.run([self.nanoscope, "report", "--json", trace], check=True, stdout=subprocess.PIPE, text=True)
        rows = {}
        for f in json.loads(said.stdout)["functions"]:
            row = rows.setdefault(f["function"], [0, 0, f["min_ns"], 0])
            row[:] = [row[0] + f["calls"], row[1] + f["total_ns"], min(row[2], f["min_ns"]), max(row[3], f["max_ns"])]
        return rows

    def bench_export(self):
        """Whole programs for Perfetto: whether they come back as they were (--only size tells the bytes)."""
        for name, make in (("Lua", self.lua), ("SQLite", self.sqlite)):
            trace, out = self.path("trace.nst"), self.path("trace.pftrace.gz")
            info, _ = self.record(make(only=("gcc plain", "gcc sleds"))["gcc sleds"])
            taken = seconds([self.nanoscope, "export", "-o", out, trace], 1)
            self.table.add("%s for Perfetto, gzipped: export" % name, taken, "s", "", "%.3g calls" % info["calls"])
            mine, back = self.reported(trace), self.reported(out)
            other = [f for f in mine.keys() | back.keys() if mine.get(f, [0])[0] != back.get(f, [0])[0]]
            self.table.add("  read back: functions with another number of calls", len(other), "", "<= 0")
            # A time is rounded to its nanosecond there, so that a duration is one more or less than the ticks between.
            most = max(max(abs(mine[f][1] - back[f][1]) / mine[f][0], abs(mine[f][2] - back[f][2]),
                           abs(mine[f][3] - back[f][3])) for f in mine.keys() & back.keys())
            self.table.add("  read back: durations differ by, at most", most, "ns", "<= 1")
            os.unlink(out)

    # ---- Other readers ----------------------------------------------------------------------

    def bench_readers(self):
        """Other tools over the same calls, in their own format, as our export writes it."""
        millions = 1 if self.quick else 10
        trace = self.made("regular", millions)
        for tool, form, jobs in (
                ("uftrace", "uftrace", (("report", ["report"], ["report"]), ("dump", ["dump"], ["replay"]),
                                        ("replay", ["replay"], ["replay"]))),
                ("babeltrace2", "ctf", (("all events as text", [], ["replay"]),))):
            if not shutil.which(tool):
                self.table.add(tool, None, note="not installed: tools/deps bench")
                continue
            data = self.path("peer." + form)
            shutil.rmtree(data, ignore_errors=True)
            subprocess.run([self.nanoscope, "export", "--format", form, "-o", data, trace], check=True,
                           stdout=subprocess.DEVNULL)
            for what, theirs, ours in jobs:
                command = [tool] + theirs + (["-d", data] if tool == "uftrace" else [data])
                other, mine = seconds(command, 1), seconds([self.nanoscope] + ours + [trace])
                if other is None or mine is None:
                    self.table.add("%s %s" % (tool, what), None, note="failed")
                    continue
                self.table.add("%s %s, %de6 events: time / nanoscope %s" % (tool, what, millions, ours[0]),
                               other / mine, "x", "", "%.2f s, ours %.3f s" % (other, mine))
            shutil.rmtree(data, ignore_errors=True)
