// lanes.ts - draws what is not calls: heads of threads and processes, states, marks, charts, left-out functions. Called by
// the timeline once a frame for each lane in sight; draws only what is at hand.
import type { State } from "../data/state";
import { baseName } from "../data/functions";
import type { ChartLane, Layout, ProcessLane, ThreadLane } from "../data/layout";
import type { Notes } from "../data/notes";
import { css, stateColour } from "../base/palette";
import { NAME_FONT, SMALL_FONT, STRONG_FONT, type Pen } from "./pen";
import type {
    Counters,
    LeftOutRow,
    Mark,
    Marks,
    Range,
    Samples,
    States,
    Thread,
} from "../engine/protocol";
import { chartSeries, type Series } from "../data/series";
import * as units from "../base/units";
import { timeToX } from "../data/view";

const BAND = 7;
const ARROW = 14;

export interface Frame {
    app: State;
    pen: Pen;
    notes: Notes;
    layout: Layout;
    /** Where time begins on the canvas, and how wide it is, in CSS pixels. */
    gutter: number;
    width: number;
    view: Range;
    leftOut: readonly LeftOutRow[];
}

function toX(frame: Frame, time: number): number {
    return frame.gutter + timeToX(frame.view, frame.width, time);
}

export function threadTitle(thread: Thread): string {
    const name = thread.name === "" ? "thread" : thread.name;
    return thread.stack > 0
        ? `${name} ${thread.tid}, stack ${thread.stack}`
        : `${name} ${thread.tid}`;
}

function arrow(pen: Pen, x: number, y: number, isOpen: boolean): void {
    const { context } = pen;
    context.fillStyle = css(pen.surface.quiet);
    context.beginPath();
    if (isOpen) {
        context.moveTo(x - 4, y - 2);
        context.lineTo(x + 4, y - 2);
        context.lineTo(x, y + 3);
    } else {
        context.moveTo(x - 2, y - 4);
        context.lineTo(x + 3, y);
        context.lineTo(x - 2, y + 4);
    }
    context.fill();
}

/** The head of a thread in the gutter. @y may be above the canvas's edge for a thread that begins above: then it sticks. */
export function drawThreadName(frame: Frame, lane: ThreadLane, y: number): void {
    const { pen, app, gutter } = frame;
    const thread = app.trace.threads[lane.thread]!;
    const middle = y + 11;
    if (thread.max_depth > 0) {
        arrow(pen, 12, middle, lane.fold !== "folded");
    }
    const right =
        lane.hidden > 0 && lane.fold === "some"
            ? `+${units.shortCount(lane.hidden)} rows`
            : thread.calls > 0
              ? units.shortCount(thread.calls)
              : "no calls";
    const fit = pen.fit(SMALL_FONT);
    const rightWidth = fit.width(right);
    const room = gutter - 8 - ARROW - 16 - rightWidth;
    pen.text(threadTitle(thread), 8 + ARROW, middle, room, css(pen.surface.text), NAME_FONT);
    pen.text(right, gutter - 8 - rightWidth, middle, rightWidth + 1, css(pen.surface.quiet));
}

export function drawThreadHead(frame: Frame, lane: ThreadLane, y: number): void {
    const { pen, app, view } = frame;
    const thread = app.trace.threads[lane.thread]!;
    pen.fill(css(pen.surface.line), 0, y, pen.width, 1);
    if (thread.states > 0) {
        drawStates(frame, lane.thread, y + lane.height - BAND - 2);
    }
    if (thread.marks > 0) {
        const marks = frame.notes.get<Marks>("marks", {}, view, frame.width, app.whole);
        const own = marks?.marks.filter((mark) => mark.thread === lane.thread) ?? [];
        drawMarks(frame, own, y + 1, lane.fold !== "folded");
    }
}

function drawStates(frame: Frame, thread: number, y: number): void {
    const { pen, app, view, width, gutter } = frame;
    const states = frame.notes.get<States>("states", { thread }, view, width, app.whole);
    for (const [start, end, state] of states?.segments ?? []) {
        const colour = stateColour(state, pen.theme);
        const from = Math.max(toX(frame, start), gutter);
        const to = Math.min(toX(frame, end), gutter + width);
        if (colour !== null && to >= gutter && from <= gutter + width) {
            pen.fill(css(colour), from, y, Math.max(to - from, 0.5), BAND);
        }
    }
}

/** Flags with names, where names do not touch; the others are notches, and all of them without @named. */
function drawMarks(frame: Frame, marks: readonly Mark[], y: number, named: boolean): void {
    const { pen, gutter, width } = frame;
    const colour = css(pen.surface.accent);
    let free = named ? gutter : Infinity;
    for (const mark of marks) {
        const x = toX(frame, mark.time);
        if (x < gutter || x > gutter + width) {
            continue;
        }
        if (x < free) {
            pen.fill(colour, Math.round(x), y, 1, 2);
            continue;
        }
        pen.fill(colour, Math.round(x), y, 1.5, 13);
        const label = mark.text === "" ? mark.name : `${mark.name} ${mark.text}`;
        const room = Math.min(160, gutter + width - x - 6);
        free = x + 5 + pen.text(label, x + 4, y + 7, room, colour) + 10;
    }
}

export function drawProcess(frame: Frame, lane: ProcessLane, y: number): void {
    const { pen, app } = frame;
    const process = app.trace.processes[lane.process];
    pen.fill(css(pen.surface.lane), 0, y, pen.width, lane.height);
    const name = process === undefined ? "process" : `${baseName(process.name)} ${process.pid}`;
    pen.text(name, 8, y + lane.height / 2, frame.gutter - 16, css(pen.surface.text), STRONG_FONT);
}

export function drawLeftOut(frame: Frame, lane: ProcessLane, y: number): void {
    const { pen, gutter, width, app } = frame;
    const rows = frame.leftOut.filter(
        (row) => row.process === null || row.process === lane.process,
    );
    const middle = y + lane.height / 2;
    pen.text("left out", 8 + ARROW, middle, gutter - 30, css(pen.surface.quiet));
    let from = Infinity;
    let to = -Infinity;
    for (const row of rows) {
        from = Math.min(from, row.from);
        to = Math.max(to, row.to ?? app.whole.to);
    }
    if (to < from) {
        return;
    }
    const x0 = Math.max(toX(frame, from), gutter);
    const x1 = Math.min(toX(frame, to), gutter + width);
    if (x1 <= x0) {
        return;
    }
    pen.fill(css(pen.surface.loss, 0.75), x0, y + lane.height - 4, x1 - x0, 2);
    const names = rows
        .slice(0, 3)
        .map((row) => (row.function === null ? "all functions" : app.functions.name(row.function)));
    const others = rows.length > 3 ? ` and ${rows.length - 3} more` : "";
    const reasons = [...new Set(rows.map((row) => row.reason))].join(", ");
    pen.text(
        `${names.join(", ")}${others} (${reasons})`,
        x0 + 4,
        middle - 2,
        x1 - x0 - 8,
        css(pen.surface.quiet),
    );
}

/** The chart of a counter or of a thread's samples. */
export function drawChart(frame: Frame, lane: ChartLane, y: number): void {
    const { pen, app, view, width, gutter, notes } = frame;
    const { whole } = app;
    let series: Series | null = null;
    if (lane.kind === "counter") {
        const { name, process, thread } = lane;
        const query = thread === null ? { process, name } : { thread, name };
        const data = notes.get<Counters>("counters", query, view, width, whole);
        const end = thread === null ? whole.to : app.trace.threads[thread]!.end;
        series = data === null ? null : chartSeries.counter(data, end);
    } else {
        const data = notes.get<Samples>("samples", { thread: lane.thread }, view, width, whole);
        series = data === null ? null : chartSeries.samples(data, lane.name);
    }
    const bottom = y + lane.height - 3;
    const room = lane.height - 8;
    pen.text(lane.name, 8 + ARROW, y + lane.height / 2, gutter - 90, css(pen.surface.quiet));
    pen.fill(css(pen.surface.line), gutter, bottom, width, 1);
    if (series === null || series.times.length === 0) {
        return;
    }
    drawSeries(frame, series, bottom, room);
    const top = series.tell(series.top);
    const topWidth = pen.fit(SMALL_FONT).width(top);
    pen.text(top, gutter - 8 - topWidth, y + 9, topWidth + 1, css(pen.surface.quiet));
}

/** Steps: a value holds from its time to the next one. Neighbours within a pixel are one column. */
function drawSeries(frame: Frame, series: Series, bottom: number, room: number): void {
    const { pen, gutter, width } = frame;
    const { times, values, top } = series;
    const path = new Path2D();
    const line = new Path2D();
    let isOpen = false;
    let lastY = bottom;
    for (let i = 0; i < times.length; i++) {
        const value = values[i]!;
        const x0 = Math.max(toX(frame, times[i]!), gutter);
        const x1 = Math.min(i + 1 < times.length ? toX(frame, times[i + 1]!) : x0, gutter + width);
        if (x1 < gutter || x0 > gutter + width || Number.isNaN(value)) {
            if (isOpen) {
                path.lineTo(x0, bottom);
                isOpen = false;
            }
            continue;
        }
        const y = bottom - (top > 0 ? Math.min(value / top, 1) * room : 0);
        if (!isOpen) {
            path.moveTo(x0, bottom);
            line.moveTo(x0, y);
            isOpen = true;
        } else {
            line.lineTo(x0, lastY);
            line.lineTo(x0, y);
        }
        path.lineTo(x0, y);
        path.lineTo(x1, y);
        line.lineTo(x1, y);
        lastY = y;
        if (i + 1 === times.length || Number.isNaN(values[i + 1]!)) {
            path.lineTo(x1, bottom);
            isOpen = false;
        }
    }
    const { context } = pen;
    context.fillStyle = css(pen.surface.accent, 0.18);
    context.fill(path);
    context.strokeStyle = css(pen.surface.accent, 0.9);
    context.lineWidth = 1;
    context.stroke(line);
}
