import assert from "node:assert/strict";
import { test } from "node:test";
import * as view from "../../../viewer/src/data/view";

const whole = { from: 0, to: 1e9 };

test("time and pixels map onto each other", () => {
    const range = { from: 100, to: 300 };
    assert.equal(view.timeToX(range, 1000, 200), 500);
    assert.equal(view.xToTime(range, 1000, 500), 200);
});

test("a nanosecond stays a nanosecond a day into the trace", () => {
    const day = 86_400e9;
    const range = { from: day, to: day + 100 };
    assert.equal(view.timeToX(range, 1000, day + 1), 10);
    assert.equal(view.xToTime(range, 1000, 10), day + 1);
});

test("zooming keeps the time under the pointer", () => {
    let range: { from: number; to: number } = whole;
    const still = view.xToTime(range, 1, 0.3);
    for (let i = 0; i < 20; i++) {
        range = view.zoom(range, 0.5, 0.3, whole);
        assert.ok(Math.abs(view.xToTime(range, 1, 0.3) - still) < 1e-3);
    }
    assert.ok(view.duration(range) < 1000);
});

test("zooming ends at a few nanoseconds and at the whole trace", () => {
    let range = { from: 400, to: 500 };
    for (let i = 0; i < 50; i++) {
        range = view.zoom(range, 0.5, 0.5, whole);
    }
    assert.equal(view.duration(range), view.SHORTEST_WINDOW);
    for (let i = 0; i < 100; i++) {
        range = view.zoom(range, 2, 0.9, whole);
    }
    assert.deepEqual(range, whole);
});

test("panning stops at the ends and keeps the length", () => {
    const range = view.pan({ from: 10, to: 110 }, -5, whole);
    assert.deepEqual(range, { from: 0, to: 100 });
    assert.deepEqual(view.pan({ from: 1e9 - 110, to: 1e9 - 10 }, 3, whole), {
        from: 1e9 - 100,
        to: 1e9,
    });
});

test("a trace of a nanosecond can be shown", () => {
    const tiny = { from: 0, to: 1 };
    const range = view.clamp(tiny, tiny);
    assert.ok(view.duration(range) >= 1);
    assert.ok(range.from <= 0 && range.to >= 1);
    assert.deepEqual(view.zoom(range, 0.1, 0.5, tiny), range);
});

test("revealing moves no more than it has to", () => {
    const seen = { from: 1000, to: 2000 };
    assert.equal(view.reveal(seen, { from: 1100, to: 1200 }, whole), seen);
    const moved = view.reveal(seen, { from: 5000, to: 5100 }, whole);
    assert.equal(view.duration(moved), 1000);
    assert.ok(moved.from <= 5000 && moved.to >= 5100);
    const grown = view.reveal(seen, { from: 5000, to: 9000 }, whole);
    assert.ok(grown.from <= 5000 && grown.to >= 9000);
});

test("a smooth zoom ends where it should and keeps its fixed point", () => {
    const to = view.zoom(whole, 1 / 64, 0.25, whole);
    const still = view.xToTime(whole, 1, 0.25);
    for (const share of [0.1, 0.5, 0.9]) {
        const range = view.between(whole, to, share);
        assert.ok(Math.abs(view.xToTime(range, 1, 0.25) - still) < 1);
    }
    const end = view.between(whole, to, 1);
    assert.ok(Math.abs(end.from - to.from) < 1 && Math.abs(end.to - to.to) < 1);
    const panned = view.between({ from: 0, to: 10 }, { from: 100, to: 110 }, 0.5);
    assert.deepEqual(panned, { from: 50, to: 60 });
});
