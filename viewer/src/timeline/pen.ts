// pen.ts - a canvas with its size, scale and theme: what all drawing parts share.
import { css, SURFACES, type Surface, type ThemeName } from "../base/palette";
import { TextFit } from "../base/text";

export const SMALL_FONT = "11px system-ui, sans-serif";
export const NAME_FONT = "12px system-ui, sans-serif";
export const STRONG_FONT = "600 12px system-ui, sans-serif";

export class Pen {
    readonly context: CanvasRenderingContext2D;
    /** CSS pixels. */
    width = 0;
    height = 0;
    /** Device pixels in a CSS pixel. */
    scale = 1;
    surface: Surface = SURFACES.light;
    theme: ThemeName = "light";
    private readonly fits = new Map<string, TextFit>();
    private hatch: CanvasPattern | null = null;

    constructor(readonly canvas: HTMLCanvasElement) {
        const context = canvas.getContext("2d", { alpha: false });
        if (context === null) {
            throw new Error("This browser cannot draw.");
        }
        this.context = context;
    }

    /** Takes the size that the canvas has on the page. */
    resize(width: number, height: number): void {
        const scale = window.devicePixelRatio || 1;
        const [w, h] = [
            Math.max(1, Math.round(width * scale)),
            Math.max(1, Math.round(height * scale)),
        ];
        if (this.canvas.width !== w || this.canvas.height !== h) {
            this.canvas.width = w;
            this.canvas.height = h;
        }
        if (width !== this.width || height !== this.height) {
            this.canvas.style.width = `${width}px`;
            this.canvas.style.height = `${height}px`;
        }
        this.width = width;
        this.height = height;
        this.scale = scale;
    }

    setTheme(theme: ThemeName): void {
        this.theme = theme;
        this.surface = SURFACES[theme];
        this.hatch = null;
    }

    /** From here on coordinates are CSS pixels. */
    begin(): void {
        this.context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
        this.context.textBaseline = "middle";
    }

    fill(
        colour: string | CanvasPattern,
        x: number,
        y: number,
        width: number,
        height: number,
    ): void {
        this.context.fillStyle = colour;
        this.context.fillRect(x, y, width, height);
    }

    fit(font: string): TextFit {
        let fit = this.fits.get(font);
        if (fit === undefined) {
            fit = new TextFit(this.context, font);
            this.fits.set(font, fit);
        }
        this.context.font = font;
        return fit;
    }

    /** Draws as much of @text as @room holds, vertically centred at @y; tells how wide that is. */
    text(
        text: string,
        x: number,
        y: number,
        room: number,
        colour: string,
        font = SMALL_FONT,
    ): number {
        const fit = this.fit(font);
        const shown = fit.fit(text, room);
        if (shown === "") {
            return 0;
        }
        this.context.fillStyle = colour;
        this.context.fillText(shown, x, y);
        return fit.width(shown);
    }

    /** Slanted lines in the colour of losses. */
    lossPattern(): CanvasPattern | string {
        if (this.hatch !== null) {
            return this.hatch;
        }
        const size = Math.round(8 * this.scale);
        const tile = document.createElement("canvas");
        tile.width = size;
        tile.height = size;
        const context = tile.getContext("2d");
        const colour = css(this.surface.loss);
        if (context === null) {
            return colour;
        }
        context.strokeStyle = css(this.surface.loss, 0.6);
        context.lineWidth = Math.max(1, 1.4 * this.scale);
        for (const shift of [-size, 0, size]) {
            context.beginPath();
            context.moveTo(shift, size);
            context.lineTo(shift + size, 0);
            context.stroke();
        }
        const pattern = this.context.createPattern(tile, "repeat");
        pattern?.setTransform(new DOMMatrix().scale(1 / this.scale));
        this.hatch = pattern;
        return pattern ?? colour;
    }
}
