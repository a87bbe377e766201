// timeline.ts - the canvas with all tracks: decides what a frame shows, paints it, and says what lies at a point.
import type { State } from "../data/state";
import { FRAME_NS } from "../data/state";
import {
    drawChart,
    drawLeftOut,
    drawProcess,
    drawThreadHead,
    drawThreadName,
    type Frame,
} from "./lanes";
import { HEADER, Layout, ROW, type CallsLane, type Lane, type ThreadLane } from "../data/layout";
import { Notes } from "../data/notes";
import {
    LABEL_NUMBERS,
    paintRow,
    type Colours,
    type Labels,
    type Raster,
    type Scale,
} from "./paint";
import { css, fillText, pixel, plainFill } from "../base/palette";
import { NAME_FONT, Pen, SMALL_FONT } from "./pen";
import type { LeftOutRow } from "../engine/protocol";
import { HitMap, type SeenSpan } from "./hit_map";
import { SPAN_WORDS, type Gap, type Tile } from "../data/tile";
import { BLOCK_ROWS, Tiles, timeIn, zoomFor, type Piece } from "../data/tiles";
import { duration, pan, timeToX, xToTime } from "../data/view";

const LABEL_FROM = 34;
/** Nothing has moved for so long: there is time to look ahead. */
const REST_MS = 150;
/** The strip of outermost calls in the head of a folded thread. */
const STRIP = 10;
const BAND_ROOM = 8;
/** A loss at one instant is to be seen, too. */
const LOSS_PIXELS = 4;
/** Marks of frames that are closer are not shown. */
const FRAME_PIXELS = 4;

export interface Spot {
    lane: Lane;
    thread: number | null;
    /** Of the row under the point; null outside of calls. */
    depth: number | null;
    time: number;
    span: SeenSpan | null;
    gap: Gap | null;
}

export class Timeline {
    readonly pen: Pen;
    readonly tiles: Tiles;
    readonly notes: Notes;
    readonly layout: Layout;
    /** What the calls in sight are. */
    readonly picture: HitMap;
    leftOut: readonly LeftOutRow[] = [];
    /** Where a range is being dragged. */
    gutter = 200;
    private raster: Raster = { pixels: new Uint32Array(0), width: 0, height: 0 };
    private image: ImageData | null = null;
    private planned = false;
    private resting = 0;
    /** Milliseconds that the last frames took to paint; for those who measure. */
    readonly frameTimes: number[] = [];

    constructor(
        private readonly app: State,
        canvas: HTMLCanvasElement,
        private readonly scroller: HTMLElement,
        private readonly spacer: HTMLElement,
        /** Called after each frame, to paint what stands above and below. */
        private readonly painted: () => void,
    ) {
        this.pen = new Pen(canvas);
        const redraw = (): void => this.plan();
        this.tiles = new Tiles(
            app.engine,
            redraw,
            (tile) => this.needNames(tile),
            (error) => app.fail(error),
        );
        this.notes = new Notes(app.engine, redraw, (error) => app.fail(error));
        this.layout = new Layout(app.trace);
        this.picture = new HitMap(
            app,
            (thread, block) => this.piecesOf(thread, block),
            () => this.width,
        );
        app.on(["view", "selection", "call", "search", "frames"], redraw);
        app.on("functions", redraw);
        app.on("theme", () => {
            this.pen.setTheme(app.theme);
            this.plan();
        });
        app.on("tracks", () => this.resized());
        app.on("trace", () => {
            this.tiles.refresh();
            this.notes.refresh();
            this.plan();
        });
        scroller.addEventListener("scroll", redraw, { passive: true });
        new ResizeObserver(() => this.resized()).observe(scroller);
        this.pen.setTheme(app.theme);
    }

    private needNames({ spans }: Tile): void {
        for (let i = 4; i < spans.length; i += SPAN_WORDS) {
            this.app.functions.need(spans[i]! + spans[i + 1]! * 65536);
        }
    }

    /** Width of the time axis in CSS pixels. */
    get width(): number {
        return Math.max(1, this.pen.width - this.gutter);
    }

    resized(): void {
        this.gutter = this.scroller.clientWidth < 700 ? 120 : 200;
        // The stage above it has no height of its own: the spacer alone says how far it can be scrolled.
        this.spacer.style.height = `${this.layout.height}px`;
        this.pen.resize(this.scroller.clientWidth, this.scroller.clientHeight);
        this.app.emit("view");
    }

    plan(): void {
        if (!this.planned) {
            this.planned = true;
            requestAnimationFrame(() => {
                this.planned = false;
                this.draw();
            });
        }
    }

    private prepare(): void {
        const { canvas, scale } = this.pen;
        const width = Math.max(1, canvas.width - Math.round(this.gutter * scale));
        const height = canvas.height;
        if (this.image === null || this.image.width !== width || this.image.height !== height) {
            this.image = new ImageData(width, height);
            this.raster = { pixels: new Uint32Array(this.image.data.buffer), width, height };
        }
        this.raster.pixels.fill(pixel(this.pen.surface.background));
    }

    private draw(): void {
        const begun = performance.now();
        const { app, pen, layout } = this;
        this.prepare();
        this.tiles.begin();
        this.notes.begin();
        const scroll = this.scroller.scrollTop;
        const first = Math.max(0, layout.at(scroll));
        const lanes: Lane[] = [];
        for (
            let i = first;
            i < layout.lanes.length && layout.lanes[i]!.y < scroll + pen.height;
            i++
        ) {
            lanes.push(layout.lanes[i]!);
        }
        const scale: Scale = {
            from: app.view.from,
            pixelsPerNs: this.raster.width / duration(app.view),
        };
        const labels: Labels = [];
        const gaps: [Piece, number, number][] = [];
        for (const lane of lanes) {
            if (lane.kind === "calls") {
                this.paintCalls(lane, scroll, scale, labels, gaps);
            } else if (lane.kind === "thread" && lane.fold === "folded") {
                this.paintStrip(lane, scroll, scale, gaps);
            }
        }
        pen.begin();
        const left = Math.round(this.gutter * pen.scale);
        pen.context.putImageData(this.image!, left, 0);
        this.drawGaps(gaps);
        this.drawLabels(labels, left);
        this.drawOver(lanes, scroll);
        const isWhole = this.tiles.end();
        this.notes.end();
        window.clearTimeout(this.resting);
        if (isWhole) {
            this.resting = window.setTimeout(() => this.lookAhead(), REST_MS);
        }
        this.frameTimes.push(performance.now() - begun);
        if (this.frameTimes.length > 600) {
            this.frameTimes.shift();
        }
        this.painted();
    }

    /** When the picture has come to rest: the tiles that a move or a step back would need. */
    private lookAhead(): void {
        const { view } = this.app;
        const near = pan(view, -1, this.app.whole);
        const far = pan(view, 1, this.app.whole);
        this.tiles.begin();
        for (const { thread, first, end } of this.visibleThreads()) {
            const last = Math.max(end - 1, first);
            for (
                let block = Math.floor(first / BLOCK_ROWS);
                block <= Math.floor(last / BLOCK_ROWS);
                block++
            ) {
                this.piecesOf(thread, block, { from: near.from, to: far.to });
                this.piecesOf(thread, block, view, 1);
            }
        }
        this.tiles.end();
    }

    private get colours(): Colours {
        const { app, pen } = this;
        return {
            fills: app.functions.colours,
            plain: pixel(plainFill(pen.theme)),
            background: pixel(pen.surface.background),
            dimmed: pixel(pen.surface.dimmed),
            found: app.found?.flags ?? null,
        };
    }

    /** @coarser: zoom levels above the one that suits the window. */
    private piecesOf(thread: number, block: number, range = this.app.view, coarser = 0): Piece[] {
        const { start, end } = this.app.trace.threads[thread]!;
        const from = Math.max(range.from, start, 0);
        const to = Math.min(range.to, Math.max(end, start + 1));
        if (to <= from) {
            return [];
        }
        const zoom = zoomFor((duration(this.app.view) / this.raster.width) * 2 ** coarser);
        return this.tiles.pieces(thread, block, zoom, from, to);
    }

    private paintCalls(
        lane: CallsLane,
        scroll: number,
        scale: Scale,
        labels: Labels,
        gaps: [Piece, number, number][],
    ): void {
        const { pen } = this;
        const ratio = pen.scale;
        const firstRow = Math.max(0, Math.floor((scroll - lane.y) / ROW));
        const endRow = Math.min(lane.rows, Math.ceil((scroll + pen.height - lane.y) / ROW));
        const colours = this.colours;
        let block = -1;
        let pieces: Piece[] = [];
        for (let row = firstRow; row < endRow; row++) {
            const of = Math.floor(row / BLOCK_ROWS);
            if (of !== block) {
                block = of;
                pieces = this.piecesOf(lane.thread, block);
                const top = Math.max(lane.y + block * BLOCK_ROWS * ROW - scroll, 0);
                const bottom =
                    lane.y + Math.min((block + 1) * BLOCK_ROWS, lane.rows) * ROW - scroll;
                for (const piece of pieces) {
                    if (piece.tile.gaps.length > 0) {
                        gaps.push([piece, top, Math.min(bottom, pen.height)]);
                    }
                }
            }
            const y = Math.round((lane.y + row * ROW - scroll) * ratio);
            const next = Math.round((lane.y + (row + 1) * ROW - scroll) * ratio);
            const height = next - y - Math.max(1, Math.round(ratio));
            const from = Math.round(LABEL_FROM * ratio);
            paintRow(
                this.raster,
                pieces,
                row % BLOCK_ROWS,
                y,
                height,
                scale,
                colours,
                from,
                labels,
            );
        }
    }

    private paintStrip(
        lane: ThreadLane,
        scroll: number,
        scale: Scale,
        gaps: [Piece, number, number][],
    ): void {
        const pieces = this.piecesOf(lane.thread, 0);
        // Above the band of states, if there is one.
        const room = this.app.trace.threads[lane.thread]!.states > 0 ? HEADER - BAND_ROOM : HEADER;
        const top = lane.y - scroll + (room - STRIP) / 2;
        const y = Math.round(top * this.pen.scale);
        const height = Math.round(STRIP * this.pen.scale);
        paintRow(this.raster, pieces, 0, y, height, scale, this.colours, Infinity, []);
        for (const piece of pieces) {
            if (piece.tile.gaps.length > 0) {
                gaps.push([piece, top, top + STRIP]);
            }
        }
    }

    /** In device pixels of the raster; the context works in CSS pixels. */
    private drawLabels(labels: Labels, left: number): void {
        const { pen, app } = this;
        const { context } = pen;
        const ratio = pen.scale;
        const fit = pen.fit(SMALL_FONT);
        const normal = css(fillText(pen.theme));
        const dimmed = css(pen.surface.dimmedText);
        for (let i = 0; i < labels.length; i += LABEL_NUMBERS) {
            const x = (left + labels[i]!) / ratio;
            const room = labels[i + 1]! / ratio - 8;
            const name = app.functions.name(labels[i + 3]!);
            const text = fit.fitName(name, room);
            if (text !== "") {
                context.fillStyle = labels[i + 4] === 1 ? dimmed : normal;
                context.fillText(text, x + 4, labels[i + 2]! / ratio + ROW / 2);
            }
        }
    }

    private drawOver(lanes: readonly Lane[], scroll: number): void {
        const { pen, app, gutter, width } = this;
        const { surface } = pen;
        const frame: Frame = {
            app,
            pen,
            notes: this.notes,
            layout: this.layout,
            gutter,
            width,
            view: app.view,
            leftOut: this.leftOut,
        };
        for (const lane of lanes) {
            if (lane.kind === "calls" || lane.kind === "thread") {
                this.drawLifetime(lane, scroll);
            }
        }
        if (this.showsFrames) {
            this.drawFrameMarks();
        }
        pen.fill(css(surface.lane), 0, 0, gutter, pen.height);
        for (const lane of lanes) {
            const y = lane.y - scroll;
            if (lane.kind === "process") {
                drawProcess(frame, lane, y);
            } else if (lane.kind === "left-out") {
                drawLeftOut(frame, lane, y);
            } else if (lane.kind === "samples" || lane.kind === "counter") {
                drawChart(frame, lane, y);
            } else if (lane.kind === "thread") {
                drawThreadHead(frame, lane, y);
                drawThreadName(frame, lane, y);
            } else if (lane.kind === "calls" && lane.y - HEADER < scroll) {
                // The head has gone out of sight: the name stays with the calls.
                const room = Math.min(0, lane.y + lane.height - scroll - HEADER);
                pen.fill(css(surface.lane), 0, room, gutter, HEADER);
                drawThreadName(frame, this.layout.threadLane(lane.thread), room);
            }
        }
        pen.fill(css(surface.line), gutter - 1, 0, 1, pen.height);
        this.drawCall(scroll);
        this.drawRange();
        if (app.trace.calls === 0) {
            this.drawHint();
        }
    }

    /** The time in which the thread is not there is shaded. */
    private drawLifetime(lane: CallsLane | ThreadLane, scroll: number): void {
        const { pen, app, gutter, width } = this;
        const { start, end } = app.trace.threads[lane.thread]!;
        const x0 = Math.min(Math.max(timeToX(app.view, width, start), 0), width);
        const x1 = Math.min(Math.max(timeToX(app.view, width, end), 0), width);
        const shade = css(pen.surface.lane);
        const y = lane.y - scroll;
        if (x0 > 0) {
            pen.fill(shade, gutter, y, x0, lane.height);
        }
        if (x1 < width) {
            // A little to the right: the last call is at least a pixel wide.
            pen.fill(shade, gutter + x1 + 1, y, width - x1 - 1, lane.height);
        }
    }

    private drawGaps(gaps: [Piece, number, number][]): void {
        const { pen, app, gutter, width } = this;
        if (gaps.length === 0) {
            return;
        }
        const pattern = pen.lossPattern();
        for (const [piece, top, bottom] of gaps) {
            const left = timeToX(app.view, width, piece.from);
            const right = Math.min(timeToX(app.view, width, piece.to), width);
            for (const gap of piece.tile.gaps) {
                const x0 = Math.max(timeToX(app.view, width, timeIn(piece, gap.x0)), left, 0);
                const x1 = Math.min(timeToX(app.view, width, timeIn(piece, gap.x1 + 1)), right);
                if (x1 > x0) {
                    pen.fill(
                        pattern,
                        gutter + x0,
                        top,
                        Math.max(x1 - x0, LOSS_PIXELS),
                        bottom - top,
                    );
                }
            }
        }
    }

    /** Whether the marks of frames are far enough from each other. */
    get showsFrames(): boolean {
        const { app } = this;
        return app.frames && (FRAME_NS / duration(app.view)) * this.width >= FRAME_PIXELS;
    }

    private drawFrameMarks(): void {
        const { pen, app, gutter, width } = this;
        const origin = app.range?.from ?? app.whole.from;
        const colour = css(pen.surface.accent, 0.45);
        for (
            let i = Math.ceil((app.view.from - origin) / FRAME_NS);
            origin + i * FRAME_NS <= app.view.to;
            i++
        ) {
            const x = timeToX(app.view, width, origin + i * FRAME_NS);
            pen.fill(colour, gutter + Math.round(x), 0, 1, pen.height);
        }
    }

    private drawCall(scroll: number): void {
        const { pen, app, gutter, width } = this;
        const { call } = app;
        const lane = call === null ? null : this.layout.callsLane(call.thread);
        if (call === null || lane === null || call.depth >= lane.rows) {
            return;
        }
        const x0 = Math.max(timeToX(app.view, width, call.start), -4);
        const x1 = Math.min(timeToX(app.view, width, call.end), width + 4);
        if (x1 < 0 || x0 > width) {
            return;
        }
        const { context } = pen;
        context.save();
        context.beginPath();
        context.rect(gutter, 0, width, pen.height);
        context.clip();
        context.lineWidth = 2;
        context.strokeStyle = css(pen.surface.text);
        const y = lane.y + call.depth * ROW - scroll;
        context.strokeRect(gutter + x0 - 1, y - 1, Math.max(x1 - x0 + 1, 3), ROW + 1);
        context.restore();
    }

    private drawRange(): void {
        const { pen, app, gutter, width } = this;
        const { range } = app;
        if (range === null) {
            return;
        }
        const x0 = Math.min(Math.max(timeToX(app.view, width, range.from), 0), width);
        const x1 = Math.min(Math.max(timeToX(app.view, width, range.to), 0), width);
        const shade = css(pen.surface.background, 0.5);
        if (x0 > 0) {
            pen.fill(shade, gutter, 0, x0, pen.height);
        }
        if (x1 < width) {
            pen.fill(shade, gutter + x1, 0, width - x1, pen.height);
        }
        const edge = css(pen.surface.accent);
        if (x0 > 0) {
            pen.fill(edge, gutter + x0 - 1, 0, 1.5, pen.height);
        }
        if (x1 < width) {
            pen.fill(edge, gutter + x1, 0, 1.5, pen.height);
        }
    }

    private drawHint(): void {
        const { pen, gutter, width, app } = this;
        const text = app.trace.left_out.all
            ? "No calls: all functions were left out. Record again with a wider filter (-F)."
            : "No calls in this trace. Was the program built for tracing? nanoscope doctor tells.";
        const room = width - 40;
        const fit = pen.fit(NAME_FONT);
        const x = gutter + Math.max(20, (width - fit.width(text)) / 2);
        const y = Math.min(Math.max(this.layout.height + 40, 60), pen.height - 20);
        pen.text(text, x, y, room, css(pen.surface.quiet), NAME_FONT);
    }

    /** What lies at a point of the canvas (CSS pixels). */
    spot(x: number, y: number): Spot | null {
        const top = y + this.scroller.scrollTop;
        const lane = this.layout.lanes[this.layout.at(top)];
        if (lane === undefined || top >= lane.y + lane.height) {
            return null;
        }
        const time = xToTime(this.app.view, this.width, x - this.gutter);
        const thread = "thread" in lane ? lane.thread : null;
        const isStrip = lane.kind === "thread" && lane.fold === "folded";
        const depth = lane.kind === "calls" ? Math.floor((top - lane.y) / ROW) : isStrip ? 0 : null;
        const hasCalls = thread !== null && depth !== null && x >= this.gutter;
        const span = hasCalls ? this.picture.spanAt(thread, depth, time) : null;
        const gap = hasCalls ? this.picture.gapAt(thread, depth, time) : null;
        return { lane, thread, depth, time, span, gap };
    }

    /** The threads in sight, and the rows of each that are: from `first` to before `end`. */
    visibleThreads(): { thread: number; first: number; end: number }[] {
        const { scrollTop, clientHeight } = this.scroller;
        const seen = new Map<number, { thread: number; first: number; end: number }>();
        const { lanes } = this.layout;
        for (let i = Math.max(0, this.layout.at(scrollTop)); i < lanes.length; i++) {
            const lane = lanes[i]!;
            if (lane.y >= scrollTop + clientHeight) {
                break;
            }
            if (lane.kind === "thread") {
                seen.set(lane.thread, { thread: lane.thread, first: 0, end: 0 });
            } else if (lane.kind === "calls") {
                const first = Math.max(0, Math.floor((scrollTop - lane.y) / ROW));
                const end = Math.ceil((scrollTop + clientHeight - lane.y) / ROW);
                seen.set(lane.thread, {
                    thread: lane.thread,
                    first,
                    end: Math.min(end, lane.rows),
                });
            }
        }
        return [...seen.values()];
    }

    /** Scrolls so that a row of a thread is in sight; unfolds it where needed. */
    reveal(thread: number, depth: number): void {
        if (this.layout.unfold(thread, depth)) {
            this.app.emit("tracks");
        }
        const lane = this.layout.callsLane(thread);
        if (lane === null) {
            return;
        }
        const y = lane.y + depth * ROW;
        const { scrollTop, clientHeight } = this.scroller;
        if (y < scrollTop) {
            this.scroller.scrollTop = y - 2 * ROW;
        } else if (y + ROW > scrollTop + clientHeight) {
            this.scroller.scrollTop = y + 3 * ROW - clientHeight;
        }
    }
}
