import assert from "node:assert/strict";
import { test } from "node:test";
import * as units from "../../../viewer/src/base/units";

test("times are told in the unit that fits", () => {
    assert.equal(units.time(0), "0 ns");
    assert.equal(units.time(1), "1 ns");
    assert.equal(units.time(999), "999 ns");
    assert.equal(units.time(1000), "1.000 µs");
    assert.equal(units.time(16_666_667), "16.67 ms");
    assert.equal(units.time(999_999), "1.000 ms");
    assert.equal(units.time(1.5e9), "1.500 s");
    assert.equal(units.time(59.994e9), "59.99 s");
    assert.equal(units.time(59.9996e9), "1 min");
    assert.equal(units.time(3_599.9e9), "1 h");
    assert.equal(units.time(60e9), "1 min");
    assert.equal(units.time(113.2e9), "1 min 53 s");
    assert.equal(units.time(3_900e9), "1 h 5 min");
    assert.equal(units.time(86_400e9), "1 d");
    assert.equal(units.exactTime(1234567), "1,234,567 ns");
});

test("counts and shares are short", () => {
    assert.equal(units.count(0), "0");
    assert.equal(units.count(999), "999");
    assert.equal(units.count(1234567.4), "1,234,567");
    assert.equal(units.count(-1000), "-1,000");
    assert.equal(units.shortCount(9999), "9,999");
    assert.equal(units.shortCount(12345), "12.3k");
    assert.equal(units.shortCount(999_999), "1.00M");
    assert.equal(units.shortCount(1.24e9), "1.24G");
    assert.equal(units.share(1, 0), "-");
    assert.equal(units.share(1, 2), "50.0 %");
    assert.equal(units.share(1, 1e9), "<0.01 %");
    assert.equal(units.bytes(1 << 20), "1.00 MiB");
});

test("ruler marks are round, ordered, within the window, and told apart by their labels", () => {
    for (const [from, length] of [
        [0, 16],
        [0, 1e9],
        [123_456_789, 5000],
        [86_400e9, 40],
        [0, 86_400e9],
        [3.6e12, 7e12],
        [17, 1e6],
    ] as const) {
        const { ticks, step, base } = units.ruler(from, from + length, length / 12);
        assert.ok(
            ticks.length >= 2 && ticks.length <= 14,
            `${from}+${length}: ${ticks.length} marks`,
        );
        assert.ok(step >= length / 12 - 1e-6);
        assert.ok(base <= from);
        assert.equal(new Set(ticks.map((tick) => tick.label)).size, ticks.length);
        for (const tick of ticks) {
            assert.ok(tick.time >= from && tick.time <= from + length);
            assert.ok(tick.label.length <= 14, tick.label);
        }
    }
});

test("a ruler deep in a long trace counts from a base", () => {
    const { base, ticks } = units.ruler(5e9 + 100, 5e9 + 900, 100);
    assert.equal(base, 5e9);
    assert.equal(ticks[0]!.label, "+100 ns");
});

test("points in time are exact to the nanosecond", () => {
    assert.equal(units.instant(0), "0.000000000 s");
    assert.equal(units.instant(43_200_000_000_500), "43,200.000000500 s");
    assert.equal(units.instant(1_000_000_001), "1.000000001 s");
});
