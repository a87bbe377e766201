// minimap.ts - the two strips above the tracks: the minimap with the whole trace, and the ruler.
import type { State } from "../data/state";
import { FRAME_NS } from "../data/state";
import { css } from "../base/palette";
import { Pen, SMALL_FONT, STRONG_FONT } from "./pen";
import type { Overview } from "../engine/protocol";
import * as units from "../base/units";
import { duration, timeToX } from "../data/view";

export const MINIMAP_HEIGHT = 40;
export const RULER_HEIGHT = 24;
const MIDDLE = RULER_HEIGHT / 2;
const LABEL_WIDTH = 90;

export class Minimap {
    readonly pen: Pen;
    private overview: Overview | null = null;
    private asked = 0;

    constructor(
        private readonly app: State,
        canvas: HTMLCanvasElement,
    ) {
        this.pen = new Pen(canvas);
        app.on("trace", () => void this.load(this.asked));
    }

    private async load(width: number): Promise<void> {
        this.asked = width;
        try {
            this.overview = await this.app.ask<Overview>("overview", { width });
            this.app.emit("view");
        } catch (error) {
            this.app.fail(error);
        }
    }

    draw(gutter: number, total: number): void {
        const { pen, app } = this;
        pen.resize(total, MINIMAP_HEIGHT);
        pen.setTheme(app.theme);
        pen.begin();
        const { surface } = pen;
        const width = Math.max(1, total - gutter);
        const columns = Math.min(4096, Math.max(64, Math.pow(2, Math.ceil(Math.log2(width)))));
        if (columns !== this.asked) {
            void this.load(columns);
        }
        pen.fill(css(surface.lane), 0, 0, total, MINIMAP_HEIGHT);
        const whole = duration(app.whole);
        pen.text(units.time(whole), 12, 13, gutter - 20, css(surface.text), STRONG_FONT);
        pen.text("whole trace", 12, 28, gutter - 20, css(surface.quiet));
        if (this.overview !== null) {
            this.drawDepth(this.overview, gutter, width);
        }
        this.drawWindow(gutter, width);
        pen.fill(css(surface.line), 0, MINIMAP_HEIGHT - 1, total, 1);
    }

    private drawDepth({ depth, lost }: Overview, gutter: number, width: number): void {
        const { pen } = this;
        const deepest = depth.reduce((most, one) => Math.max(most, one), 1);
        const column = width / depth.length;
        const { context, surface } = pen;
        context.fillStyle = css(surface.quiet, 0.5);
        context.beginPath();
        context.moveTo(gutter, MINIMAP_HEIGHT);
        depth.forEach((open, i) => {
            const y = MINIMAP_HEIGHT - 2 - (open / deepest) * (MINIMAP_HEIGHT - 8);
            context.lineTo(gutter + i * column, open === 0 ? MINIMAP_HEIGHT : y);
            context.lineTo(gutter + (i + 1) * column, open === 0 ? MINIMAP_HEIGHT : y);
        });
        context.lineTo(gutter + width, MINIMAP_HEIGHT);
        context.fill();
        lost.forEach((events, i) => {
            if (events > 0) {
                pen.fill(css(surface.loss), gutter + i * column, 0, Math.max(column, 1.5), 5);
            }
        });
    }

    private drawWindow(gutter: number, width: number): void {
        const { pen, app } = this;
        const { surface } = pen;
        const x0 = timeToX(app.whole, width, app.view.from);
        const x1 = Math.max(timeToX(app.whole, width, app.view.to), x0 + 2);
        if (app.range !== null) {
            const a = timeToX(app.whole, width, app.range.from);
            const b = timeToX(app.whole, width, app.range.to);
            pen.fill(css(surface.accent, 0.3), gutter + a, 0, Math.max(b - a, 1), MINIMAP_HEIGHT);
        }
        if (x0 > 0.5 || x1 < width - 0.5) {
            const shade = css(surface.background, 0.6);
            pen.fill(shade, gutter, 0, x0, MINIMAP_HEIGHT);
            pen.fill(shade, gutter + x1, 0, width - x1, MINIMAP_HEIGHT);
            pen.fill(css(surface.accent), gutter + x0 - 1, 0, 2, MINIMAP_HEIGHT);
            pen.fill(css(surface.accent), gutter + x1 - 1, 0, 2, MINIMAP_HEIGHT);
        }
    }
}

interface Chip {
    x0: number;
    x1: number;
    x: number;
    size: number;
    text: string;
}

export class RulerStrip {
    readonly pen: Pen;

    constructor(
        private readonly app: State,
        canvas: HTMLCanvasElement,
    ) {
        this.pen = new Pen(canvas);
    }

    draw(gutter: number, total: number): void {
        const { pen, app } = this;
        pen.resize(total, RULER_HEIGHT);
        pen.setTheme(app.theme);
        pen.begin();
        const { surface } = pen;
        const width = Math.max(1, total - gutter);
        pen.fill(css(surface.background), 0, 0, total, RULER_HEIGHT);
        const least = (duration(app.view) / width) * LABEL_WIDTH;
        const ruler = units.ruler(app.view.from, app.view.to, least);
        const chip = this.rangeChip(width);
        for (const tick of ruler.ticks) {
            const x = timeToX(app.view, width, tick.time);
            pen.fill(css(surface.line), gutter + Math.round(x), 4, 1, RULER_HEIGHT - 4);
            const end = x + 4 + pen.fit(SMALL_FONT).width(tick.label);
            const isFree = chip === null || end < chip.x || x > chip.x + chip.size;
            if (isFree && end <= width) {
                pen.text(tick.label, gutter + x + 4, MIDDLE, LABEL_WIDTH, css(surface.quiet));
            }
        }
        if (chip !== null) {
            this.drawRange(chip, gutter);
        }
        pen.fill(css(surface.lane), 0, 0, gutter, RULER_HEIGHT);
        const shown = `${units.time(duration(app.view))} shown`;
        const text = ruler.base > 0 ? `${units.time(ruler.base, 9).replace(/\.?0+ /, " ")}` : shown;
        const right = pen.fit(SMALL_FONT).width(text);
        if (ruler.base > 0) {
            // The time that the labels count from stands where they begin.
            pen.text(text, gutter - right - 8, MIDDLE, right + 1, css(surface.text), SMALL_FONT);
            pen.text(shown, 12, MIDDLE, gutter - right - 28, css(surface.quiet));
        } else {
            pen.text(text, 12, MIDDLE, gutter - 20, css(surface.quiet));
        }
        pen.fill(css(surface.line), 0, RULER_HEIGHT - 1, total, 1);
    }

    /** Where the range lies on the ruler, and the label that tells how long it is; null if it is out of sight. */
    private rangeChip(width: number): Chip | null {
        const { app, pen } = this;
        if (app.range === null) {
            return null;
        }
        const x0 = Math.min(Math.max(timeToX(app.view, width, app.range.from), 0), width);
        const x1 = Math.min(Math.max(timeToX(app.view, width, app.range.to), 0), width);
        const length = duration(app.range);
        const frames = app.frames ? `, ${(length / FRAME_NS).toFixed(1)} frames` : "";
        const text = units.time(length) + frames;
        const size = pen.fit(STRONG_FONT).width(text) + 12;
        const x = Math.min(Math.max((x0 + x1 - size) / 2, 0), Math.max(width - size, 0));
        return x1 > x0 ? { x0, x1, x, size, text } : null;
    }

    private drawRange(chip: Chip, gutter: number): void {
        const { pen } = this;
        const { surface } = pen;
        const { x0, x1, x, size, text } = chip;
        pen.fill(css(surface.accent, 0.25), gutter + x0, 0, x1 - x0, RULER_HEIGHT);
        pen.fill(css(surface.accent), gutter + x, 3, size, RULER_HEIGHT - 6);
        pen.text(text, gutter + x + 6, MIDDLE, size, css(surface.background), STRONG_FONT);
    }
}
