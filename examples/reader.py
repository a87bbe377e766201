#!/usr/bin/env python3
"""Reads .nst traces by libnanoscope-reader: a small class over ctypes, and three uses of it.

usage: reader.py slowest TRACE [N]    the N slowest calls (10)
       reader.py functions TRACE      a table of all functions
       reader.py outliers TRACE [N]   calls slower than the 99th percentile of their function, with all their
                                      callers: the N (10) that are furthest beyond it

NANOSCOPE_READER names the library if it is not where the system looks.
"""
import ctypes as c
import heapq
import os
import sys

NONE = 2**32 - 1
BOUNDS = ("", "ended by then at the latest", "began then or later", "neither end was seen")


class Error(c.Structure):
    _fields_ = [("size", c.c_size_t), ("offset", c.c_uint64), ("message", c.c_char * 512)]


class Facts(c.Structure):
    _fields_ = ([(name, c.c_uint64) for name in ("calls", "events", "lost", "start_ns", "end_ns", "epoch_ns", "monotonic_ns")]
                + [("ns_per_tick", c.c_double)]
                + [(name, c.c_uint64) for name in ("samples", "states", "marks", "counters")]
                + [(name, c.c_uint32) for name in ("processes", "threads", "functions", "modules", "left_out", "whole",
                                                   "entries_only", "reserved")]
                + [("command", c.c_char_p), ("warning", c.c_char_p)])


class Thread(c.Structure):
    _fields_ = ([(name, c.c_uint32) for name in ("process", "tid", "stack", "reserved")]
                + [(name, c.c_uint64) for name in ("start_ns", "end_ns", "events", "lost")] + [("name", c.c_char_p)])


class Function(c.Structure):
    _fields_ = [("name", c.c_char_p), ("symbol", c.c_char_p), ("file", c.c_char_p), ("line", c.c_uint32),
                ("module", c.c_uint32), ("address", c.c_uint64), ("canonical", c.c_uint32), ("reserved", c.c_uint32)]


class Call(c.Structure):
    _fields_ = ([(name, c.c_uint64) for name in ("start_ns", "end_ns", "duration_ns", "self_ns", "number", "parent", "children")]
                + [(name, c.c_uint32) for name in ("function", "caller", "depth", "bound")])


class CallsOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("from_ns", c.c_uint64), ("to_ns", c.c_uint64), ("least_ns", c.c_uint64),
                ("one_function", c.c_uint32), ("function", c.c_uint32)]


class Total(c.Structure):
    _fields_ = ([(name, c.c_uint64) for name in ("calls", "bounds", "total_ns", "self_ns", "min_ns", "p50_ns", "p90_ns",
                                                 "p99_ns", "max_ns")]
                + [("function", c.c_uint32), ("rough", c.c_uint32)])


class TotalsOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("from_ns", c.c_uint64), ("to_ns", c.c_uint64), ("threads", c.POINTER(c.c_uint32)),
                ("thread_count", c.c_size_t), ("exact", c.c_uint32), ("reserved", c.c_uint32)]


class TraceError(Exception):
    """What libnanoscope-reader says went wrong."""


def text(of):
    """Names are UTF-8 as a rule; whatever else they hold stays visible and harms no terminal."""
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode() for ch in of.decode("utf8", "backslashreplace"))


class Trace:
    """A trace: facts, threads and functions by id, totals, and calls of a thread in the order of their ends."""

    BATCH = 4096

    def __init__(self, path, recover=False):
        self.lib = c.CDLL(os.environ.get("NANOSCOPE_READER", "libnanoscope-reader.so.1"))
        self.lib.nanoscope_calls_read.restype = c.c_int64
        self.lib.nanoscope_totals_read.restype = c.c_int64
        self.error = Error(size=c.sizeof(Error))
        self.handle = c.c_void_p()
        self._check(self.lib.nanoscope_trace_open(os.fsencode(path), c.c_uint(recover), c.byref(self.handle),
                                                  c.byref(self.error)))
        self.facts = self._fill(self.lib.nanoscope_trace_facts, Facts)
        self.threads = [self._fill(self.lib.nanoscope_trace_thread, Thread, i) for i in range(self.facts.threads)]
        self.functions = [self._fill(self.lib.nanoscope_trace_function, Function, i) for i in range(self.facts.functions)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.lib.nanoscope_trace_close(self.handle)
        self.handle = c.c_void_p()

    def _check(self, code):
        if code < 0:
            raise TraceError(text(self.error.message) or os.strerror(-code))
        return code

    def _fill(self, get, structure, *which):
        into = structure()
        code = get(self.handle, *(c.c_uint32(i) for i in which), c.byref(into), c.c_size_t(c.sizeof(into)))
        if code < 0:  # without a message: the error holds that of an earlier failure, if any
            raise TraceError(os.strerror(-code))
        return into

    def name(self, function):
        return text(self.functions[function].name) if function != NONE else "(nothing recorded)"

    def totals(self, from_ns=0, to_ns=0):
        """What the calls of each function come to, those with the most time first."""
        options = TotalsOptions(size=c.sizeof(TotalsOptions), from_ns=from_ns, to_ns=to_ns)
        totals, batch, found = c.c_void_p(), (Total * self.BATCH)(), []
        self._check(self.lib.nanoscope_totals_make(self.handle, c.byref(options), c.byref(totals), c.byref(self.error)))
        while True:
            count = self.lib.nanoscope_totals_read(totals, c.c_size_t(len(found)), batch, c.c_size_t(c.sizeof(Total)),
                                                   c.c_size_t(self.BATCH))
            found += [Total.from_buffer_copy(batch[i]) for i in range(count)]
            if count <= 0:
                self.lib.nanoscope_totals_close(totals)
                return found

    def calls(self, thread, from_ns=0, to_ns=0, least_ns=0):
        """The calls of a thread, each behind those that it made. A call is to be copied if it is kept."""
        options = CallsOptions(size=c.sizeof(CallsOptions), from_ns=from_ns, to_ns=to_ns, least_ns=least_ns)
        calls, batch = c.c_void_p(), (Call * self.BATCH)()
        self._check(self.lib.nanoscope_calls_open(self.handle, c.c_uint32(thread), c.byref(options), c.byref(calls),
                                                  c.byref(self.error)))
        try:
            while True:
                count = self._check(self.lib.nanoscope_calls_read(calls, batch, c.c_size_t(c.sizeof(Call)),
                                                                  c.c_size_t(self.BATCH), c.byref(self.error)))
                if count == 0:
                    return
                yield from batch[:count]
        finally:
            self.lib.nanoscope_calls_close(calls)


def ns(value):
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if value >= size:
            return "%.3f %s" % (value / size, unit)
    return "%d ns" % value


def slowest(trace, count=10):
    """Of all threads; the trace is read once, and no more than @count calls are kept."""
    kept = []
    for thread in range(len(trace.threads)):
        for call in trace.calls(thread, least_ns=kept[0][0] if len(kept) == count else 0):
            key = (call.duration_ns, -call.start_ns, thread, call.number)
            if len(kept) < count or key > kept[0][:4]:
                (heapq.heappush if len(kept) < count else heapq.heapreplace)(kept, key + (Call.from_buffer_copy(call),))
    return [(thread, call) for _, _, thread, _, call in sorted(kept, key=lambda k: k[:4], reverse=True)]


def outliers(trace, count=10):
    """Calls beyond the 99th percentile of their function, with their callers, innermost first: [(times, thread, call,
    callers)]. A call comes behind those that it made, so that its callers are yet to come: who waits for them is noted
    under the caller's number. In a recursion only the innermost of them counts; functions of fewer than a hundred calls
    are passed over."""
    p99 = {total.function: total.p99_ns for total in trace.totals() if total.calls >= 100 and total.p99_ns > 0}
    found = []
    for thread in range(len(trace.threads)):
        waiting = {}
        for call in trace.calls(thread):
            mine = waiting.pop(call.number, [])
            for _, _, _, callers in mine:
                callers.append(call.function)
            if (call.duration_ns > p99.get(call.function, call.duration_ns) and call.bound == 0
                    and not any(below.function == call.function for _, _, below, _ in mine)):
                mine.append((call.duration_ns / p99[call.function], thread, Call.from_buffer_copy(call), []))
            found += mine if call.parent == 0 else []
            if call.parent != 0 and mine:
                waiting.setdefault(call.parent, []).extend(mine)
        # Only the furthest are told: no need to keep the others of each thread.
        found = sorted(found, key=lambda f: f[0], reverse=True)[:count]
    return found


def print_slowest(trace, count):
    print("%12s  %14s  %-16s  %s" % ("DURATION", "START", "THREAD", "FUNCTION"))
    for thread, call in slowest(trace, count):
        print("%12s  %12.6f s  %-16s  %s%s" % (ns(call.duration_ns), call.start_ns / 1e9, text(trace.threads[thread].name),
                                             trace.name(call.function), BOUNDS[call.bound] and " (%s)" % BOUNDS[call.bound]))


def print_functions(trace):
    print("%10s  %12s  %12s  %12s  %12s  %s" % ("CALLS", "TOTAL", "SELF", "P50", "P99", "FUNCTION"))
    for total in trace.totals():
        print("%10d  %12s  %12s  %12s  %12s  %s" % (total.calls, ns(total.total_ns), ns(total.self_ns), ns(total.p50_ns),
                                                    ns(total.p99_ns), trace.name(total.function)))
    if trace.facts.lost:
        print("%d events were lost: the numbers lack them" % trace.facts.lost)


def print_outliers(trace, count):
    found = outliers(trace, count)
    if not found:
        print("no function has a hundred calls, or none of them is beyond the 99th percentile")
    for times, thread, call, callers in found:
        print("%s: %s, %.1f times the 99th percentile, at %.6f s in %s" % (
            trace.name(call.function), ns(call.duration_ns), times, call.start_ns / 1e9, text(trace.threads[thread].name)))
        print("    called by " + " < ".join(trace.name(f) for f in callers) if callers else "    called by nothing recorded")


def is_count(word):
    return word.isdecimal() and int(word) > 0


def main(argv):
    uses = {"slowest": print_slowest, "functions": print_functions, "outliers": print_outliers}
    if len(argv) < 3 or argv[1] not in uses or (len(argv) > 3 and not is_count(argv[3])):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        with Trace(argv[2]) as trace:
            if argv[1] == "functions":
                print_functions(trace)
            else:
                uses[argv[1]](trace, int(argv[3]) if len(argv) > 3 else 10)
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (TraceError, OSError) as error:
        print("reader.py: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
