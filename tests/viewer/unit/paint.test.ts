import assert from "node:assert/strict";
import { test } from "node:test";
import {
    LABEL_NUMBERS,
    paintRow,
    type Colours,
    type Labels,
    type Raster,
} from "../../../viewer/src/timeline/paint";
import { decodeTiles } from "../../../viewer/src/data/tile";
import type { Piece } from "../../../viewer/src/data/tiles";
import { tileBytes, type TileText } from "./bytes";

const WIDTH = 64;
const BACK = 0xff000000;
const FILLS = Uint32Array.from([0xff111111, 0xff222222, 0xff333333]);

/** A tile of 2^16 ns: a unit is a nanosecond. */
function piece(number: number, spans: TileText["spans"]): Piece {
    const asked = { first: 0, count: 8, rows: 4, threads: [0] };
    const tile = decodeTiles(tileBytes({ thread: 0, number, spans }), asked)[0]!;
    return { tile, zoom: 16, from: number * 65536, to: (number + 1) * 65536 };
}

function paint(
    pieces: Piece[],
    view: { from: number; nsPerPixel: number },
    more: { row?: number; y?: number; height?: number; found?: Uint8Array } = {},
): { raster: Raster; labels: Labels } {
    const raster = {
        pixels: new Uint32Array(WIDTH * 8).fill(BACK),
        width: WIDTH,
        height: 8,
    };
    const labels: Labels = [];
    const colours: Colours = {
        fills: FILLS,
        plain: 0xff999999,
        background: BACK,
        dimmed: 0xff777777,
        found: more.found ?? null,
    };
    const scale = { from: view.from, pixelsPerNs: 1 / view.nsPerPixel };
    paintRow(
        raster,
        pieces,
        more.row ?? 0,
        more.y ?? 0,
        more.height ?? 4,
        scale,
        colours,
        10,
        labels,
    );
    return { raster, labels };
}

function line(raster: Raster, y = 0): number[] {
    return [...raster.pixels.slice(y * WIDTH, (y + 1) * WIDTH)];
}

test("spans lie where their times are, with a gap between neighbours", () => {
    const { raster, labels } = paint(
        [
            piece(0, [
                [0, 15, 0, 0, 0],
                [16, 31, 0, 0, 1],
            ]),
        ],
        { from: 0, nsPerPixel: 1 },
    );
    const row = line(raster);
    assert.deepEqual(row.slice(0, 16), [...Array<number>(15).fill(FILLS[0]!), BACK]);
    assert.equal(row[16], FILLS[1]);
    assert.equal(row[32], BACK);
    assert.deepEqual(line(raster, 3), row);
    assert.equal(line(raster, 4)[0], BACK);
    assert.equal(labels.length, 2 * LABEL_NUMBERS);
    assert.deepEqual(labels.slice(0, 4), [0, 16, 0, 0]);
});

test("a span narrower than a pixel is a pixel", () => {
    const { raster } = paint([piece(0, [[640, 641, 0, 0, 2]])], {
        from: 0,
        nsPerPixel: 64,
    });
    assert.equal(line(raster)[10], FILLS[2]);
    assert.equal(line(raster).filter((pixel) => pixel !== BACK).length, 1);
});

test("a call that goes through several tiles has one name", () => {
    const left = piece(0, [[65500, 65535, 0, 2, 1]]);
    const right = piece(1, [[0, 20, 0, 1, 1]]);
    const { labels, raster } = paint([left, right], {
        from: 65490,
        nsPerPixel: 1,
    });
    assert.equal(labels.length, LABEL_NUMBERS);
    assert.deepEqual(
        labels.slice(0, 2),
        [10, 57 - 0].map((x, i) => (i === 0 ? 10 : Math.min(x, WIDTH - 10))),
    );
    assert.equal(line(raster)[45], FILLS[1], "no seam where the tiles meet");
    assert.equal(line(raster)[46], FILLS[1]);
});

test("a span that began left of the window is cut at its edge", () => {
    const { raster, labels } = paint([piece(0, [[0, 1000, 0, 0, 1]])], {
        from: 500,
        nsPerPixel: 10,
    });
    assert.equal(line(raster)[0], FILLS[1]);
    assert.deepEqual(labels.slice(0, 2), [0, 50]);
});

test("rows that are partly outside of the picture are cut", () => {
    const one = piece(0, [[0, 63, 1, 0, 0]]);
    const above = paint([one], { from: 0, nsPerPixel: 1 }, { row: 1, y: -2 }).raster;
    assert.equal(line(above, 1)[0], FILLS[0]);
    assert.equal(line(above, 2)[0], BACK);
    const below = paint([one], { from: 0, nsPerPixel: 1 }, { row: 1, y: 6 }).raster;
    assert.equal(line(below, 7)[0], FILLS[0]);
    const outside = paint([one], { from: 0, nsPerPixel: 1 }, { row: 1, y: 8 });
    assert.ok(outside.raster.pixels.every((pixel) => pixel === BACK));
    assert.equal(outside.labels.length, 0);
});

test("what a search did not find is dimmed, what it found is not", () => {
    const spans: TileText["spans"] = [
        [0, 15, 0, 0, 0],
        [16, 31, 0, 0, 1],
    ];
    const { raster, labels } = paint(
        [piece(0, spans)],
        { from: 0, nsPerPixel: 1 },
        { found: Uint8Array.of(0, 1, 0) },
    );
    assert.equal(line(raster)[0], 0xff777777);
    assert.equal(line(raster)[16], FILLS[1]);
    assert.deepEqual([labels[4], labels[LABEL_NUMBERS + 4]], [1, 0]);
});

test("function ids that are in no table have a plain colour", () => {
    const { raster } = paint([piece(0, [[0, 63, 0, 0, 0xfffffff0]])], {
        from: 0,
        nsPerPixel: 1,
    });
    assert.equal(line(raster)[0], 0xff999999);
});

test("a stand-in paints only the part that it stands in for", () => {
    const coarse = { ...piece(0, [[0, 65535, 0, 0, 0]]), from: 32, to: 48 };
    const row = line(paint([coarse], { from: 0, nsPerPixel: 1 }).raster);
    assert.equal(row[31], BACK);
    assert.equal(row[32], FILLS[0]);
    assert.equal(row[46], FILLS[0]);
    assert.equal(row[48], BACK);
});
