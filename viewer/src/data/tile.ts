// tile.ts - one answer of /api/tiles, decoded. Pure. The bytes may be anything: whatever does not fit is an error,
// and what fits can be painted without further tests.

/** Columns that a tile is made for; x counts 65,536ths of the tile. */
export const TILE_COLUMNS = 1024;
export const TILE_UNITS = 65536;

export const TILE_GROWING = 2;

export const SPAN_BEFORE = 1;
export const SPAN_AFTER = 2;
export const SPAN_SEVERAL = 16;

/** Fields of a span, counted in u16: x0, x1, row, flags, function (two of them). */
export const SPAN_WORDS = 6;

const HEADER_BYTES = 24;
const SPAN_BYTES = 12;
const GAP_BYTES = 12;
const UNKNOWN_LOST = 0xffffffff;

export interface Gap {
    x0: number;
    x1: number;
    /** null: unknown. */
    lost: number | null;
    /** Turned away by the budget of the recording. */
    leftOut: number;
}

export interface Tile {
    thread: number;
    index: number;
    flags: number;
    open: number;
    /** x0, x1, row, flags, function low, function high; ordered by row, then x0. */
    spans: Uint16Array;
    /** Where each row's spans begin, counted in spans; one more entry than rows. */
    starts: Uint32Array;
    gaps: Gap[];
    bytes: number;
}

export class TileError extends Error {}

function rowStarts(spans: Uint16Array, rows: number): Uint32Array {
    const starts = new Uint32Array(rows + 1);
    const total = spans.length / SPAN_WORDS;
    let row = 0;
    let left = 0;
    let right = 0;
    for (let i = 0; i < total; i++) {
        const at = i * SPAN_WORDS;
        const x0 = spans[at]!;
        const x1 = spans[at + 1]!;
        const r = spans[at + 2]!;
        if (r >= rows || r < row || x1 < x0) {
            throw new TileError("a span is out of place");
        }
        if (r > row) {
            starts.fill(i, row + 1, r + 1);
            row = r;
            left = 0;
            right = 0;
        }
        if (x0 < left || x1 < right) {
            throw new TileError("spans of a row are out of order");
        }
        left = x0;
        right = x1;
    }
    starts.fill(total, row + 1);
    return starts;
}

/**
 * The tiles of one answer.
 * @first, @count, @rows, @threads: what was asked; a tile of anything else is an error.
 */
export function decodeTiles(
    answer: ArrayBuffer,
    asked: { first: number; count: number; rows: number; threads: readonly number[] },
): Tile[] {
    const view = new DataView(answer);
    const tiles: Tile[] = [];
    const wanted = new Set(asked.threads);
    let at = 0;
    while (at < answer.byteLength) {
        if (answer.byteLength - at < HEADER_BYTES) {
            throw new TileError("a tile's head is cut off");
        }
        const thread = view.getUint32(at, true);
        const number = view.getUint32(at + 4, true);
        const spans = view.getUint32(at + 16, true);
        const gaps = view.getUint32(at + 20, true);
        if (!wanted.has(thread) || number >= asked.count) {
            throw new TileError("a tile that was not asked for");
        }
        const bytes = HEADER_BYTES + spans * SPAN_BYTES + gaps * GAP_BYTES;
        if (answer.byteLength - at < bytes) {
            throw new TileError("a tile is cut off");
        }
        const spansAt = at + HEADER_BYTES;
        const gapsAt = spansAt + spans * SPAN_BYTES;
        const words = new Uint16Array(answer.slice(spansAt, gapsAt));
        const list: Gap[] = [];
        for (let i = 0; i < gaps; i++) {
            const x0 = view.getUint16(gapsAt + i * GAP_BYTES, true);
            const x1 = view.getUint16(gapsAt + i * GAP_BYTES + 2, true);
            const lost = view.getUint32(gapsAt + i * GAP_BYTES + 4, true);
            if (x1 < x0) {
                throw new TileError("a gap is out of place");
            }
            const leftOut = view.getUint32(gapsAt + i * GAP_BYTES + 8, true);
            list.push({ x0, x1, lost: lost === UNKNOWN_LOST ? null : lost, leftOut });
        }
        tiles.push({
            thread,
            index: asked.first + number,
            flags: view.getUint32(at + 8, true),
            open: view.getUint32(at + 12, true),
            spans: words,
            starts: rowStarts(words, asked.rows),
            gaps: list,
            bytes: words.byteLength + 4 * asked.rows + 48 * gaps + 200,
        });
        at += bytes;
    }
    return tiles;
}

export function spanFunction(tile: Tile, span: number): number {
    const at = span * SPAN_WORDS;
    return tile.spans[at + 4]! + tile.spans[at + 5]! * 65536;
}

/** The span of @row that covers @x (65,536ths of the tile), -1 if none does. */
export function findSpan(tile: Tile, row: number, x: number): number {
    let low = tile.starts[row] ?? 0;
    let high = tile.starts[row + 1] ?? low;
    const first = low;
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (tile.spans[middle * SPAN_WORDS]! <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const span = low - 1;
    return span >= first && x < tile.spans[span * SPAN_WORDS + 1]! + 1 ? span : -1;
}
