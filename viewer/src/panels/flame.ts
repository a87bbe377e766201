// flame.ts - the calls of the selection merged by their callers, the heaviest on the left.
import type { App } from "../app";
import { h, printable } from "../dom";
import { css, fillText } from "../palette";
import { Pen, SMALL_FONT } from "../pen";
import type { Tree } from "../protocol";
import * as units from "../units";
import { layoutTree, sibling, type Box } from "./flametree";
import type { Panel } from "./host";

const ROW = 18;
const NODES = 8000;
const MIRRORED = 120;

export class FlamePanel implements Panel {
    readonly id = "flame";
    readonly title = "Flame graph";
    readonly topics = ["selection", "functions", "theme", "search", "trace"] as const;
    readonly element: HTMLElement;
    private readonly canvas = h("canvas", { "aria-hidden": "true" });
    private readonly spacer = h("div");
    private readonly scroller: HTMLElement;
    private readonly bar = h("div", { class: "flame-bar" });
    private readonly mirror: HTMLElement;
    private readonly pen: Pen;
    private tree: Tree | null = null;
    private boxes: Box[] = [];
    private depth = 0;
    private zoomed = -1;
    private focused = -1;
    private shown = "";

    constructor(private readonly app: App) {
        this.pen = new Pen(this.canvas);
        this.mirror = h("div", {
            class: "mirror",
            role: "treegrid",
            tabindex: 0,
            "aria-label": "Merged calls, heaviest first",
            "aria-readonly": "true",
            "data-keys": true,
            on: { keydown: (event) => this.key(event) },
        });
        const stage = h("div", { class: "stage" }, this.mirror, this.canvas);
        this.scroller = h("div", { class: "flame-scroller" }, stage, this.spacer);
        this.element = h("div", { class: "flame" }, this.bar, this.scroller);
        this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
        this.canvas.addEventListener("click", (event) => this.click(event));
        this.canvas.addEventListener("pointermove", (event) => this.hover(event));
        this.canvas.addEventListener("pointerleave", () => this.tell(this.focused));
    }

    async update(signal: AbortSignal): Promise<void> {
        const { app } = this;
        const query = { ...app.selectionQuery, limit: NODES };
        const key = JSON.stringify([query, app.trace.end]);
        if (key !== this.shown || this.tree === null) {
            this.tree = await app.ask<Tree>("tree", query, signal);
            this.shown = key;
            this.boxes = layoutTree(this.tree);
            this.depth = this.boxes.reduce((most, box) => Math.max(most, box.depth + 1), 0);
            this.zoomed = -1;
            this.focused = -1;
        }
        this.mirrorBoxes();
        this.resized();
        this.tell(this.focused);
    }

    resized(): void {
        const { clientWidth, clientHeight } = this.scroller;
        if (clientWidth > 0) {
            this.pen.resize(clientWidth, clientHeight);
            this.spacer.style.height = `${Math.max(0, this.depth * ROW - clientHeight)}px`;
            this.draw();
        }
    }

    /** The part of the tree's width that is shown. */
    private get frame(): { x: number; width: number } {
        const box = this.boxes[this.zoomed];
        return box === undefined
            ? { x: 0, width: 1 }
            : { x: box.x, width: Math.max(box.width, 1e-12) };
    }

    private draw(): void {
        const { pen, app, scroller } = this;
        pen.setTheme(app.theme);
        pen.begin();
        const { surface, width, height } = pen;
        pen.fill(css(surface.background), 0, 0, width, height);
        if (this.boxes.length === 0) {
            pen.text(
                "No calls in the selection.",
                16,
                24,
                width - 32,
                css(surface.quiet),
                SMALL_FONT,
            );
            return;
        }
        const frame = this.frame;
        for (const box of this.boxes) {
            const y = box.depth * ROW - scroller.scrollTop;
            const x0 = ((box.x - frame.x) / frame.width) * width;
            const size = (box.width / frame.width) * width;
            if (y + ROW > 0 && y < height && x0 + size > 0 && x0 < width && size >= 0.4) {
                this.drawBox(box, Math.max(x0, 0), Math.min(x0 + size, width), y);
            }
        }
        this.drawFocus();
    }

    private drawBox(box: Box, left: number, right: number, y: number): void {
        const { pen, app } = this;
        const { surface } = pen;
        const id = box.node[0];
        const found = app.found?.flags ?? null;
        const isDimmed = found !== null && (id === null || found[id] !== 1);
        const colour = isDimmed ? surface.dimmed : app.functions.rgb(id);
        const size = right - left;
        pen.fill(css(colour), left, y, Math.max(size > 3 ? size - 1 : size, 0.5), ROW - 1);
        if (size > 30) {
            const fit = pen.fit(SMALL_FONT);
            const name = app.functions.name(id);
            const label = fit.fitName(name, size - 8);
            pen.context.fillStyle = css(isDimmed ? surface.dimmedText : fillText(pen.theme));
            pen.context.fillText(label, left + 4, y + ROW / 2);
        }
    }

    private drawFocus(): void {
        const box = this.boxes[this.focused];
        if (box === undefined) {
            return;
        }
        const { pen, frame } = this;
        const x = Math.max(((box.x - frame.x) / frame.width) * pen.width, 0);
        const size = Math.min((box.width / frame.width) * pen.width, pen.width - x);
        pen.context.strokeStyle = css(pen.surface.text);
        pen.context.lineWidth = 2;
        const y = box.depth * ROW - this.scroller.scrollTop;
        pen.context.strokeRect(x + 1, y + 1, Math.max(size - 3, 2), ROW - 3);
    }

    /** The box at a point, -1 if there is none. */
    private at(event: MouseEvent): number {
        const area = this.canvas.getBoundingClientRect();
        const { frame } = this;
        const x = frame.x + ((event.clientX - area.left) / this.pen.width) * frame.width;
        const depth = Math.floor((event.clientY - area.top + this.scroller.scrollTop) / ROW);
        return this.boxes.findIndex(
            (box) => box.depth === depth && x >= box.x && x < box.x + box.width,
        );
    }

    private click(event: MouseEvent): void {
        const at = this.at(event);
        this.focus(at);
        this.zoom(at === this.zoomed ? (this.boxes[at]?.parent ?? -1) : at);
    }

    private zoom(at: number): void {
        this.zoomed = at;
        this.draw();
        this.tell(this.focused);
    }

    private focus(at: number): void {
        this.focused = at;
        const box = this.boxes[at];
        if (box !== undefined) {
            const y = box.depth * ROW;
            const { scrollTop, clientHeight } = this.scroller;
            if (y < scrollTop || y + ROW > scrollTop + clientHeight) {
                this.scroller.scrollTop = Math.max(0, y - clientHeight / 2);
            }
            this.mirrorFocus(box);
        }
        this.draw();
        this.tell(at);
    }

    private hover(event: MouseEvent): void {
        const at = this.at(event);
        this.canvas.classList.toggle("over", at >= 0);
        this.tell(at >= 0 ? at : this.focused);
    }

    private tell(at: number): void {
        const { app, tree } = this;
        if (tree === null) {
            return;
        }
        const parts: (HTMLElement | string)[] = [];
        if (this.zoomed >= 0) {
            parts.push(
                h("button", { type: "button", on: { click: () => this.zoom(-1) } }, "Show all"),
            );
        }
        const box = this.boxes[at] ?? this.boxes[this.zoomed];
        if (box === undefined) {
            const folded =
                tree.folded > 0 ? ` ${units.count(tree.folded)} light branches are folded.` : "";
            const text = `${units.time(tree.total)} in calls. Click a call to zoom in.${folded}`;
            parts.push(h("span", { class: "quiet" }, text));
        } else {
            const [id, , calls, total, self] = box.node;
            const share = units.share(total, tree.total);
            parts.push(
                h("strong", {}, printable(app.functions.name(id))),
                h("span", {}, `${units.time(total)} (${share})`),
                h("span", {}, `self ${units.time(self)}`),
                h("span", {}, `${units.count(calls)} calls`),
            );
        }
        this.bar.replaceChildren(...parts);
    }

    private mirrorRow({ node: [id, , calls, total, self], index, depth }: Box): HTMLElement {
        return h(
            "div",
            { role: "row", id: `flame-${index}`, "aria-level": depth + 1 },
            h("div", { role: "rowheader" }, printable(this.app.functions.name(id))),
            h("div", { role: "gridcell" }, units.time(total)),
            h("div", { role: "gridcell" }, units.time(self)),
            h("div", { role: "gridcell" }, units.count(calls)),
        );
    }

    private mirrorBoxes(): void {
        const head = h("div", { role: "row" });
        for (const title of ["Function", "Total", "Self", "Calls"]) {
            head.append(h("div", { role: "columnheader" }, title));
        }
        const rows = this.boxes.slice(0, MIRRORED).map((box) => this.mirrorRow(box));
        this.mirror.replaceChildren(head, ...rows);
        this.mirror.removeAttribute("aria-activedescendant");
    }

    private mirrorFocus(box: Box): void {
        if (this.mirror.querySelector(`#flame-${box.index}`) === null) {
            this.mirror.append(this.mirrorRow(box));
        }
        this.mirror.setAttribute("aria-activedescendant", `flame-${box.index}`);
    }

    /** Where an arrow leads from @at. */
    private neighbour(at: number, key: string): number {
        switch (key) {
            case "ArrowDown":
                return this.boxes[at + 1]?.parent === at ? at + 1 : at;
            case "ArrowUp":
                return Math.max(this.boxes[at]!.parent, this.boxes[at]!.parent < 0 ? at : 0);
            case "ArrowRight":
                return sibling(this.boxes, at, 1);
            default:
                return sibling(this.boxes, at, -1);
        }
    }

    private key(event: KeyboardEvent): void {
        const at = Math.max(this.focused, 0);
        const box = this.boxes[at];
        if (box === undefined) {
            return;
        }
        if (event.key.startsWith("Arrow")) {
            this.focus(this.focused < 0 ? 0 : this.neighbour(at, event.key));
        } else if (event.key === "Enter" || event.key === " ") {
            this.zoom(at === this.zoomed ? box.parent : at);
        } else if (event.key === "Escape" && this.zoomed >= 0) {
            this.zoom(-1);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}
