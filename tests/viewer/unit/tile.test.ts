import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeTiles, findSpan, spanFunction, TileError } from "../../../viewer/src/data/tile";
import { tileBytes } from "./bytes";

const ASKED = { first: 10, count: 4, rows: 8, threads: [3] };

test("a tile comes out as it was put in", () => {
    const bytes = tileBytes({
        thread: 3,
        number: 2,
        flags: 1,
        spans: [
            [0, 99, 0, 1, 70_000],
            [100, 65535, 0, 2, 5],
            [50, 60, 2, 16, 6],
        ],
        gaps: [
            [7, 9, 0xffffffff],
            [20, 21, 0, 5],
        ],
    });
    const [tile] = decodeTiles(bytes, ASKED);
    assert.ok(tile !== undefined);
    assert.equal(tile.index, 12);
    assert.deepEqual([...tile.starts], [0, 2, 2, 3, 3, 3, 3, 3, 3]);
    assert.equal(spanFunction(tile, 0), 70_000);
    assert.deepEqual(tile.gaps, [
        { x0: 7, x1: 9, lost: null, leftOut: 0 },
        { x0: 20, x1: 21, lost: 0, leftOut: 5 },
    ]);
});

test("the span at a point is found, and none between spans", () => {
    const bytes = tileBytes({
        thread: 3,
        number: 0,
        spans: [
            [0, 9, 0, 0, 1],
            [20, 29, 0, 0, 2],
            [5, 5, 1, 0, 3],
        ],
    });
    const tile = decodeTiles(bytes, ASKED)[0]!;
    assert.equal(findSpan(tile, 0, 0), 0);
    assert.equal(findSpan(tile, 0, 9.9), 0);
    assert.equal(findSpan(tile, 0, 10), -1);
    assert.equal(findSpan(tile, 0, 25), 1);
    assert.equal(findSpan(tile, 0, 30), -1);
    assert.equal(findSpan(tile, 1, 5.5), 2);
    assert.equal(findSpan(tile, 7, 5), -1);
    assert.equal(findSpan(tile, 99, 5), -1);
});

test("tiles that cannot be are refused", () => {
    const bad: [string, ArrayBuffer][] = [
        ["of another thread", tileBytes({ thread: 4, number: 0, spans: [] })],
        ["beyond those asked", tileBytes({ thread: 3, number: 4, spans: [] })],
        ["a row too deep", tileBytes({ thread: 3, number: 0, spans: [[0, 1, 8, 0, 1]] })],
        ["turned around", tileBytes({ thread: 3, number: 0, spans: [[5, 4, 0, 0, 1]] })],
        [
            "rows out of order",
            tileBytes({
                thread: 3,
                number: 0,
                spans: [
                    [0, 1, 1, 0, 1],
                    [0, 1, 0, 0, 1],
                ],
            }),
        ],
        [
            "spans out of order",
            tileBytes({
                thread: 3,
                number: 0,
                spans: [
                    [9, 9, 0, 0, 1],
                    [0, 1, 0, 0, 1],
                ],
            }),
        ],
        [
            "a span in another",
            tileBytes({
                thread: 3,
                number: 0,
                spans: [
                    [0, 9, 0, 0, 1],
                    [3, 5, 0, 0, 1],
                ],
            }),
        ],
        ["a gap turned around", tileBytes({ thread: 3, number: 0, spans: [], gaps: [[2, 1, 0]] })],
        [
            "more spans than bytes",
            tileBytes({ thread: 3, number: 0, spans: [], spanCount: 0xffffffff }),
        ],
        ["more gaps than bytes", tileBytes({ thread: 3, number: 0, spans: [], gapCount: 1 })],
    ];
    for (const [what, bytes] of bad) {
        assert.throws(() => decodeTiles(bytes, ASKED), TileError, what);
    }
});

test("every cut of an answer is refused or is whole", () => {
    const whole = tileBytes({
        thread: 3,
        number: 1,
        spans: [[0, 5, 0, 0, 1]],
        gaps: [[1, 2, 3]],
    });
    for (let size = 1; size < whole.byteLength; size++) {
        assert.throws(() => decodeTiles(whole.slice(0, size), ASKED), TileError, `${size} bytes`);
    }
    assert.deepEqual(decodeTiles(new ArrayBuffer(0), ASKED), []);
});

test("bytes by chance never do more than throw a TileError", () => {
    let seed = 1;
    const random = (): number => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    const whole = new Uint8Array(
        tileBytes({
            thread: 3,
            number: 1,
            spans: [
                [0, 5, 0, 0, 1],
                [8, 8, 0, 0, 1],
                [8, 9, 3, 0, 1],
            ],
            gaps: [[1, 2, 3]],
        }),
    );
    for (let round = 0; round < 20_000; round++) {
        const bytes = whole.slice();
        for (let i = 0; i < 1 + random() * 3; i++) {
            bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
        }
        try {
            for (const tile of decodeTiles(bytes.buffer, ASKED)) {
                for (let row = 0; row < 8; row++) {
                    assert.ok(tile.starts[row]! <= tile.starts[row + 1]!);
                }
                assert.equal(tile.starts[8], tile.spans.length / 6);
            }
        } catch (error) {
            assert.ok(error instanceof TileError, String(error));
        }
    }
});
