// bytes.ts - answers of /api/tiles for tests, right or wrong.

export interface TileText {
    thread: number;
    number: number;
    flags?: number;
    /** x0, x1, row, flags, function. */
    spans: [number, number, number, number, number][];
    /** x0, x1, lost. */
    /** From, to, events lost, events left out. */
    gaps?: [number, number, number, number?][];
    /** What the head says, where that is not true. */
    spanCount?: number;
    gapCount?: number;
}

export function tileBytes(tile: TileText): ArrayBuffer {
    const gaps = tile.gaps ?? [];
    const bytes = new ArrayBuffer(24 + 12 * (tile.spans.length + gaps.length));
    const view = new DataView(bytes);
    view.setUint32(0, tile.thread, true);
    view.setUint32(4, tile.number, true);
    view.setUint32(8, tile.flags ?? 0, true);
    view.setUint32(12, 1, true);
    view.setUint32(16, tile.spanCount ?? tile.spans.length, true);
    view.setUint32(20, tile.gapCount ?? gaps.length, true);
    let at = 24;
    for (const [x0, x1, row, flags, id] of tile.spans) {
        [x0, x1, row, flags].forEach((value, i) => view.setUint16(at + 2 * i, value, true));
        view.setUint32(at + 8, id, true);
        at += 12;
    }
    for (const [x0, x1, lost, leftOut] of gaps) {
        view.setUint16(at, x0, true);
        view.setUint16(at + 2, x1, true);
        view.setUint32(at + 4, lost, true);
        view.setUint32(at + 8, leftOut ?? 0, true);
        at += 12;
    }
    return bytes;
}
