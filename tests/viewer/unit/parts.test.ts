import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAddress } from "../../../viewer/src/data/address";
import { printable } from "../../../viewer/src/base/dom";
import { path, selectionQuery } from "../../../viewer/src/engine/engine";
import { Layout, orderThreads, ROW, ROWS_AT_FIRST } from "../../../viewer/src/data/layout";
import { layoutTree, sibling } from "../../../viewer/src/panels/flametree";
import type { Thread, Trace } from "../../../viewer/src/engine/protocol";
import { chartSeries } from "../../../viewer/src/data/series";
import { lastName, shortName } from "../../../viewer/src/base/text";

function thread(more: Partial<Thread>): Thread {
    return {
        process: 0,
        tid: 1,
        stack: 0,
        name: "t",
        start: 0,
        end: 100,
        calls: 1,
        lost: 0,
        max_depth: 3,
        samples: 0,
        states: 0,
        marks: 0,
        counters: 0,
        ...more,
    };
}

function trace(threads: Thread[]): Trace {
    return {
        name: "x",
        traces: 1,
        engine: "",
        start: 0,
        end: 100,
        calls: 1,
        events: 2,
        lost: 0,
        complete: true,
        growing: false,
        exits_bound: false,
        warning: null,
        functions: 1,
        distinct: 1,
        categories: [],
        processes: [{ pid: 7, name: "p", start: 0, end: 100, exit: 0 }],
        threads,
        counters: [],
        meta: {},
        left_out: { functions: 0, all: false },
        can: [],
    };
}

test("requests are written as the engine reads them", () => {
    const selection = { range: { from: 1.2, to: 8.1 }, threads: [1, 5] };
    assert.equal(
        path("report", { ...selectionQuery(selection), sort: "self" }),
        "/api/report?from=1&to=9&threads=1,5&sort=self",
    );
    assert.equal(path("tree", selectionQuery({ range: null, threads: null })), "/api/tree");
    assert.equal(path("search", { q: "a&b=c d" }), "/api/search?q=a%26b%3Dc+d");
});

test("an address that makes no sense is passed over", () => {
    const empty = parseAddress("");
    assert.deepEqual(parseAddress("#view=9-1&range=x&call=1.2&theme=pink&frames=yes"), empty);
    const full = parseAddress(
        "#view=1-9&range=2.5-3&call=4.5.6&theme=dark&search=%3Cb%3E&frames=1&panel=flame",
    );
    assert.deepEqual(full.view, { from: 1, to: 9 });
    assert.deepEqual(full.selection, { from: 2.5, to: 3 });
    assert.deepEqual(full.call, { thread: 4, at: 5, depth: 6 });
    assert.equal(full.search, "<b>");
});

test("control characters and turned text are shown, not obeyed", () => {
    assert.equal(printable("a\u0007b"), "a\u2407b");
    assert.equal(printable("x\u202eevil"), "x\ufffdevil");
    assert.equal(printable("</script>"), "</script>");
});

test("the main thread comes first, then the busiest", () => {
    const threads = [
        thread({ tid: 9, calls: 500 }),
        thread({ tid: 7, calls: 1 }),
        thread({ tid: 8, calls: 1 }),
        thread({ tid: 8, stack: 1, calls: 900 }),
    ];
    assert.deepEqual(orderThreads(trace(threads)), [1, 2, 3, 0]);
});

test("what is shown stays in its place when threads are added", () => {
    const grown = trace([thread({ tid: 9, calls: 5 }), thread({ tid: 8, calls: 9 })]);
    const layout = new Layout(grown);
    assert.deepEqual(layout.order, [1, 0]);
    layout.setFold(0, "folded");
    grown.processes.push({ pid: 30, name: "q", start: 0, end: null, exit: null });
    grown.threads[0]!.calls = 900;
    grown.threads[1]!.max_depth = 8;
    grown.threads.push(
        thread({ process: 1, tid: 30 }),
        thread({ tid: 3, calls: 2, samples: 4 }),
        thread({ tid: 4, calls: 3000 }),
    );
    layout.grow();
    assert.deepEqual(layout.order, [1, 0, 4, 3, 2]);
    assert.equal(layout.callsLane(0), null);
    assert.equal(layout.callsLane(1)!.rows, 8);
    assert.equal(layout.callsLane(4)!.rows, 3);
    assert.ok(layout.lanes.some((lane) => lane.kind === "samples" && lane.thread === 3));
});

test("5,000 threads and a depth of 100,000 are laid out, and every point has one lane", () => {
    const threads = Array.from({ length: 5000 }, (_, i) =>
        thread({ tid: 7 + i, max_depth: i === 0 ? 100_000 : 3 }),
    );
    const layout = new Layout(trace(threads));
    let y = 0;
    for (const lane of layout.lanes) {
        assert.ok(lane.y >= y);
        y = lane.y + lane.height;
    }
    assert.ok(layout.height >= y);
    assert.equal(layout.callsLane(0)!.rows, ROWS_AT_FIRST);
    assert.ok(layout.unfold(0, 99_999));
    assert.equal(layout.callsLane(0)!.height, 100_000 * ROW);
    assert.equal(layout.callsLane(4999), null, "most threads are folded at first");
    const lane = layout.lanes[layout.at(layout.callsLane(0)!.y + 5)]!;
    assert.equal(lane.kind, "calls");
    layout.setAll("folded");
    assert.ok(layout.lanes.every((one) => one.kind !== "calls"));
});

test("samples become rates, memory stays an amount", () => {
    const samples = {
        columns: ["cpu_ns", "minor_faults", "process_bytes"],
        rows: [
            [0, 0, 0, 4096],
            [100, 50, null, 8192],
            [200, 150, 4, null],
        ],
    };
    const cpu = chartSeries.samples(samples, "CPU")!;
    assert.deepEqual(cpu.times, [0, 100, 200]);
    assert.deepEqual(cpu.values.slice(0, 2), [0.5, 1]);
    const faults = chartSeries.samples(samples, "faults")!;
    assert.deepEqual(faults.values.slice(0, 1), [4 * (1e9 / 200)]);
    const memory = chartSeries.samples(samples, "memory")!;
    assert.deepEqual(memory.values, [4096, 8192]);
    assert.equal(chartSeries.samples(samples, "switches"), null);
});

test("a counter holds its last value to the end", () => {
    const rows: [number, number, number, number][] = [
        [100, 1, 9, 5],
        [200, 10, 10, 10],
    ];
    const line = chartSeries.counter({ rows }, 500);
    assert.deepEqual(line.times, [100, 200, 500]);
    assert.deepEqual(line.values, [5, 10, NaN]);
    assert.equal(line.top, 10);
    assert.deepEqual(chartSeries.counter({ rows: [] }, 500).times, []);
    assert.deepEqual(chartSeries.counter({ rows }, 150).times, [100, 200, 200], "set behind it");
});

test("a name's arguments and return type go first when there is no room", () => {
    assert.equal(shortName("main"), "main");
    assert.equal(
        shortName("void ns::Class<int, char>::method(int, char const*)"),
        "ns::Class<int, char>::method",
    );
    assert.equal(
        shortName("(anonymous namespace)::helper_with_a_name(int)"),
        "(anonymous namespace)::helper_with_a_name",
    );
    assert.equal(
        shortName("ns::Functor<long>::operator()(int, int) const"),
        "ns::Functor<long>::operator()",
    );
    assert.equal(shortName("std::ostream& operator<<(std::ostream&, int)"), "operator<<");
});

test("of a name in a tight place the last part is left", () => {
    assert.equal(lastName("ns::Class<a::b, char>::method"), "method");
    assert.equal(lastName("java.util.ArrayList.add"), "add");
    assert.equal(lastName("ns::Functor<long>::operator()"), "operator()");
    assert.equal(lastName("main"), "main");
    assert.equal(lastName("odd::"), "odd::");
    assert.equal(lastName("singlematch.part.0.isra.0"), "singlematch");
    assert.equal(lastName("ns::work.constprop.0.cold"), "work");
    assert.equal(lastName("shop.Basket.part"), "part");
});

test("a merged tree stays within its parents, whatever its numbers", () => {
    const depth = ([, level]: readonly number[]): number => level!;
    const weight = ([, , , total]: readonly number[]): number => total!;
    const good = layoutTree({
        depth,
        weight,
        total: 100,
        nodes: [
            [1, 0, 1, 60, 10],
            [2, 1, 1, 30, 30],
            [3, 1, 1, 20, 20],
            [4, 0, 1, 40, 40],
        ],
    });
    assert.deepEqual(
        good.map((box) => [box.x, box.width]),
        [
            [0, 0.6],
            [0, 0.3],
            [0.3, 0.2],
            [0.6, 0.4],
        ],
    );
    assert.deepEqual(
        good.map((box) => box.parent),
        [-1, 0, 0, -1],
    );
    assert.equal(sibling(good, 0, 1), 3);
    assert.equal(sibling(good, 2, -1), 1);
    assert.equal(sibling(good, 1, -1), 1);
    const bad = layoutTree({
        depth,
        weight,
        total: 10,
        nodes: [
            [1, 5, 1, 500, 0],
            [2, 9, 1, -4, 0],
            [3, 9, 1, 1e300, 0],
        ],
    });
    for (const box of bad) {
        assert.ok(box.x >= 0 && box.x + box.width <= 1);
    }
    assert.deepEqual(
        bad.map((box) => box.depth),
        [0, 1, 2],
    );
});
