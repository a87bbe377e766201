// paint.ts - calls as pixels: each row is painted as one line and copied down. Pure: writes into an array, knows no
// canvas. The work is bounded by rows * columns, whatever the trace holds.
import {
    SPAN_AFTER,
    SPAN_BEFORE,
    SPAN_SEVERAL,
    SPAN_WORDS,
    TILE_UNITS,
    spanFunction,
} from "../data/tile";
import { tileLength, timeIn, type Piece } from "../data/tiles";

/** A picture: width * height pixels in little-endian RGBA. */
export interface Raster {
    pixels: Uint32Array;
    width: number;
    height: number;
}

/** How time is laid over the picture. */
export interface Scale {
    from: number;
    pixelsPerNs: number;
}

export interface Colours {
    /** By function id. */
    fills: Uint32Array;
    plain: number;
    background: number;
    dimmed: number;
    /** By function id, 1 for those that stand out; null: all of them. */
    found: Uint8Array | null;
}

/** Spans that have room for a name: x, width, y, function, 1 if dimmed; five numbers each. */
export type Labels = number[];

export const LABEL_NUMBERS = 5;

/** 3 parts of @a, 1 part of @b. */
function paler(a: number, b: number): number {
    const half = (((a & 0xfefefe) >>> 1) + ((b & 0xfefefe) >>> 1)) | 0;
    return ((((a & 0xfefefe) >>> 1) + ((half & 0xfefefe) >>> 1)) | 0xff000000) >>> 0;
}

/** First span of a row that ends behind @x. */
function firstSpan(spans: Uint16Array, low: number, high: number, x: number): number {
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (spans[middle * SPAN_WORDS + 1]! + 1 <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** The span that is being put together from pieces of several tiles. */
interface Open {
    from: number;
    to: number;
    id: number;
    goesOn: boolean;
}

/**
 * Paints one row of calls.
 * @row: row within the tiles
 * @y, @height: where, in pixels; may lie partly outside of the picture
 * @labelFrom: spans at least this wide are noted in @labels
 */
export function paintRow(
    raster: Raster,
    pieces: readonly Piece[],
    row: number,
    y: number,
    height: number,
    scale: Scale,
    colours: Colours,
    labelFrom: number,
    labels: Labels,
): void {
    const top = Math.max(y, 0);
    const bottom = Math.min(y + height, raster.height);
    if (top >= bottom) {
        return;
    }
    const { pixels, width } = raster;
    const line = top * width;
    const { fills, found, background, dimmed } = colours;
    let painted = false;
    const open: Open = { from: 0, to: 0, id: -1, goesOn: false };

    const close = (): void => {
        const size = open.to - open.from;
        if (open.id >= 0 && size > 0) {
            if (size > 3 && open.to < width) {
                pixels[line + open.to - 1] = background;
            }
            if (size >= labelFrom) {
                const isDimmed = found !== null && found[open.id] !== 1;
                labels.push(open.from, size, y, open.id, isDimmed ? 1 : 0);
            }
        }
        open.id = -1;
    };

    for (const piece of pieces) {
        const { tile } = piece;
        const begin = tile.starts[row]!;
        const end = tile.starts[row + 1]!;
        if (begin === end) {
            continue;
        }
        const perUnit = (tileLength(piece.zoom) / TILE_UNITS) * scale.pixelsPerNs;
        const base = (timeIn(piece, 0) - scale.from) * scale.pixelsPerNs;
        const left = Math.max(0, Math.floor((piece.from - scale.from) * scale.pixelsPerNs));
        const right = Math.min(width, Math.ceil((piece.to - scale.from) * scale.pixelsPerNs));
        if (left >= right) {
            continue;
        }
        const { spans } = tile;
        for (let i = firstSpan(spans, begin, end, (left - base) / perUnit); i < end; i++) {
            const at = i * SPAN_WORDS;
            const x0 = Math.floor(base + spans[at]! * perUnit);
            if (x0 >= right) {
                break;
            }
            const x1 = Math.floor(base + (spans[at + 1]! + 1) * perUnit);
            const a = x0 < left ? left : x0;
            let b = x1 > right ? right : x1;
            if (b <= a) {
                b = a + 1;
            }
            const flags = spans[at + 3]!;
            const id = spanFunction(tile, i);
            let colour = id < fills.length ? fills[id]! : colours.plain;
            if (found !== null && found[id] !== 1) {
                colour = dimmed;
            } else if ((flags & SPAN_SEVERAL) !== 0 && found === null) {
                colour = paler(colour, background);
            }
            if (b - a === 1) {
                pixels[line + a] = colour;
            } else {
                pixels.fill(colour, line + a, line + b);
            }
            painted = true;
            const isCut = x0 < left || (flags & SPAN_BEFORE) !== 0;
            if (isCut && open.goesOn && open.id === id && open.to >= a - 1) {
                open.to = b;
            } else {
                close();
                open.from = a;
                open.to = b;
                open.id = id;
            }
            open.goesOn = x1 > right || (flags & SPAN_AFTER) !== 0;
        }
    }
    close();
    if (painted) {
        for (let k = top + 1; k < bottom; k++) {
            pixels.copyWithin(k * width, line, line + width);
        }
    }
}
