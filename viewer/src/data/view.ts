// view.ts - the part of the time that is seen: mapping between nanoseconds and pixels, zoom and pan. Pure.
// Times are doubles: exact for 104 days of nanoseconds, and the mapping subtracts before it scales.
import type { Range } from "../engine/protocol";

/** Nothing happens in less than a nanosecond; a few of them fill the screen at most. */
export const SHORTEST_WINDOW = 16;

/** The range widened to whole nanoseconds. */
export function wholeNs(range: Range): Range {
    return { from: Math.max(0, Math.floor(range.from)), to: Math.max(0, Math.ceil(range.to)) };
}

export function duration(range: Range): number {
    return range.to - range.from;
}

export function timeToX(range: Range, width: number, time: number): number {
    return ((time - range.from) / (range.to - range.from)) * width;
}

export function xToTime(range: Range, width: number, x: number): number {
    return range.from + (x / width) * (range.to - range.from);
}

/** The same window, moved and cut so that it lies in @whole and is not too short. */
export function clamp(range: Range, whole: Range): Range {
    const longest = Math.max(duration(whole), SHORTEST_WINDOW);
    const length = Math.min(Math.max(duration(range), SHORTEST_WINDOW), longest);
    const grown = range.from - (length - duration(range)) / 2;
    const from = Math.min(Math.max(grown, whole.from), whole.from + longest - length);
    return { from, to: from + length };
}

/** @factor below 1 shows less time; the time at @anchor (0 left edge to 1 right edge) stays where it is. */
export function zoom(range: Range, factor: number, anchor: number, whole: Range): Range {
    const length = Math.min(
        Math.max(duration(range) * factor, SHORTEST_WINDOW),
        Math.max(duration(whole), SHORTEST_WINDOW),
    );
    const still = range.from + duration(range) * anchor;
    return clamp({ from: still - length * anchor, to: still + length * (1 - anchor) }, whole);
}

/** @share of the window's length: 1 is a whole screen to the right. */
export function pan(range: Range, share: number, whole: Range): Range {
    const step = duration(range) * share;
    return clamp({ from: range.from + step, to: range.to + step }, whole);
}

/** A window that shows @range with a little room on both sides. */
export function around(range: Range, whole: Range): Range {
    const room = Math.max(duration(range) * 0.05, 1);
    return clamp({ from: range.from - room, to: range.to + room }, whole);
}

/** Brings @range into sight: moves no more than needed, and keeps the zoom while it fits. */
export function reveal(view: Range, range: Range, whole: Range): Range {
    if (range.from >= view.from && range.to <= view.to) {
        return view;
    }
    if (duration(range) > duration(view) * 0.9) {
        return around(range, whole);
    }
    const middle = (range.from + range.to) / 2;
    const half = duration(view) / 2;
    return clamp({ from: middle - half, to: middle + half }, whole);
}

/** Part of the way from one window to another, for a smooth zoom: lengths go by ratio, edges by difference. */
export function between(from: Range, to: Range, share: number): Range {
    const length = duration(from) * Math.pow(duration(to) / duration(from), share);
    const moved =
        Math.abs(duration(to) - duration(from)) < 1e-9 * duration(from)
            ? share
            : (length - duration(from)) / (duration(to) - duration(from));
    const start = from.from + (to.from - from.from) * moved;
    return { from: start, to: start + length };
}

export function sameRange(a: Range | null, b: Range | null): boolean {
    return a === b || (a !== null && b !== null && a.from === b.from && a.to === b.to);
}

export function ordered(a: number, b: number): Range {
    return a <= b ? { from: a, to: b } : { from: b, to: a };
}
