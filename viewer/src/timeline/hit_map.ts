// hit_map.ts - what the calls in sight are, as far as the tiles at hand know: for the pointer, for keys that go from call
// to call, and for the mirror of the canvas. Exact times come from the engine.
import type { State } from "../data/state";
import type { Call } from "../engine/protocol";
import {
    findSpan,
    SPAN_AFTER,
    SPAN_BEFORE,
    SPAN_SEVERAL,
    SPAN_WORDS,
    spanFunction,
    type Gap,
} from "../data/tile";
import { BLOCK_ROWS, placeIn, timeIn, type Piece } from "../data/tiles";
import { duration } from "../data/view";

/** A span, to the width of a column. */
export interface SeenSpan {
    thread: number;
    depth: number;
    function: number;
    from: number;
    to: number;
    several: boolean;
    /** It begins before the tile, or goes on behind it: what it has there is not known here. */
    before: boolean;
    after: boolean;
}

export type Neighbour = "callee" | "left" | "right";

function seen(thread: number, depth: number, piece: Piece, span: number): SeenSpan {
    const { spans } = piece.tile;
    const at = span * SPAN_WORDS;
    const flags = spans[at + 3]!;
    return {
        thread,
        depth,
        function: spanFunction(piece.tile, span),
        from: timeIn(piece, spans[at]!),
        to: timeIn(piece, spans[at + 1]! + 1),
        several: (flags & SPAN_SEVERAL) !== 0,
        before: (flags & SPAN_BEFORE) !== 0,
        after: (flags & SPAN_AFTER) !== 0,
    };
}

/** Whether it is the same call in the next tile, or the same span of a tile that stands in for two; or short calls in a row. */
function goesOn(span: SeenSpan, next: SeenSpan): boolean {
    const isSame = span.after && next.before && next.from <= span.to;
    const areShort = span.several && next.several && next.from <= span.to;
    return span.function === next.function && (isSame || areShort || next.from === span.from);
}

/** How well a span fits as a neighbour of a call: more is better, null is not at all. */
function fitness(span: SeenSpan, call: Call, to: Neighbour): number | null {
    // Columns are wider than calls may be: a neighbour can seem to touch, its middle does not.
    const middle = (span.from + span.to) / 2;
    if (to === "left") {
        return middle < call.start ? middle - call.start : null;
    }
    if (to === "right") {
        return middle > call.end ? call.end - middle : null;
    }
    const isInside = middle >= call.start && middle <= call.end;
    return isInside ? Math.min(span.to, call.end) - Math.max(span.from, call.start) : null;
}

export class HitMap {
    constructor(
        private readonly app: State,
        private readonly pieces: (thread: number, block: number) => Piece[],
        /** CSS pixels of the time axis. */
        private readonly width: () => number,
    ) {}

    private *spans(thread: number, depth: number): Generator<SeenSpan> {
        const row = depth % BLOCK_ROWS;
        for (const piece of this.pieces(thread, Math.floor(depth / BLOCK_ROWS))) {
            const { starts } = piece.tile;
            for (let i = starts[row]!; i < starts[row + 1]!; i++) {
                yield seen(thread, depth, piece, i);
            }
        }
    }

    private pieceAt(thread: number, depth: number, time: number): Piece | undefined {
        const pieces = this.pieces(thread, Math.floor(depth / BLOCK_ROWS));
        return pieces.find((piece) => time >= piece.from && time < piece.to);
    }

    gapAt(thread: number, depth: number, time: number): Gap | null {
        const piece = this.pieceAt(thread, depth, time);
        if (piece === undefined) {
            return null;
        }
        const x = placeIn(piece, time);
        return piece.tile.gaps.find((gap) => x >= gap.x0 && x < gap.x1 + 1) ?? null;
    }

    /** The span at a time, or half a pixel beside it. */
    spanAt(thread: number, depth: number, time: number): SeenSpan | null {
        const slack = duration(this.app.view) / this.width() / 2;
        for (const at of [time, time - slack, time + slack]) {
            const piece = this.pieceAt(thread, depth, at);
            const row = depth % BLOCK_ROWS;
            const span = piece === undefined ? -1 : findSpan(piece.tile, row, placeIn(piece, at));
            if (piece !== undefined && span >= 0) {
                return seen(thread, depth, piece, span);
            }
        }
        return null;
    }

    /** The spans in the window that are at least @least pixels wide, at most @limit, outermost first. */
    wideSpans(
        { thread, first, end }: { thread: number; first: number; end: number },
        least: number,
        limit: number,
    ): SeenSpan[] {
        const list: SeenSpan[] = [];
        const { view } = this.app;
        const shortest = (duration(view) / this.width()) * least;
        for (let depth = first; depth < end; depth++) {
            let last: SeenSpan | null = null;
            for (const span of this.spans(thread, depth)) {
                if (list.length >= limit) {
                    return list;
                }
                if (last !== null && goesOn(last, span)) {
                    last.to = Math.max(last.to, span.to);
                    last.after = span.after;
                } else if (
                    span.to - span.from >= shortest &&
                    span.to > view.from &&
                    span.from < view.to
                ) {
                    list.push(span);
                    last = span;
                }
            }
        }
        return list;
    }

    /**
     * A call beside or below another one: the longest callee, or the nearest at the same depth to the left or right.
     * Tells a time within it; null if there is none in sight.
     */
    neighbour(call: Call, to: Neighbour): { depth: number; at: number } | null {
        const depth = to === "callee" ? call.depth + 1 : call.depth;
        let best: { at: number; fitness: number } | null = null;
        for (const span of this.spans(call.thread, depth)) {
            const value = fitness(span, call, to);
            if (value !== null && (best === null || value > best.fitness)) {
                best = { at: (span.from + span.to) / 2, fitness: value };
            }
        }
        return best === null ? null : { depth, at: best.at };
    }
}
