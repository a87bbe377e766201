// flamegraph.ts - a merged call tree as a picture: boxes below their callers, the heaviest on the left. A click or Enter
// shows a branch alone, arrows go from box to box, and a treegrid mirrors it. What the boxes are is the panel's business.
import { h, printable } from "../base/dom";
import { css, fillText, type Rgb, type ThemeName } from "../base/palette";
import { NAME_FONT, Pen, SMALL_FONT } from "../timeline/pen";
import { layoutTree, sibling, type Box, type Nodes } from "./flametree";

const ROW = 18;
const MIRRORED = 120;

/** What is drawn. */
export interface FlameContent<N> extends Nodes<N> {
    name(node: N): string;
    /** null: dimmed. */
    fill(node: N): Rgb | null;
    /** A line below the name: what it marks is told by `facts` as well. */
    underlined?(node: N): boolean;
    /** What is told beside the name of the box that is looked at. */
    facts(node: N): string[];
    /** What is told while none is. */
    about: string;
    empty: string;
    /** Titles of what the mirror tells of each box, its name first, and the others. */
    columns: readonly string[];
    cells(node: N): string[];
}

export class FlameGraph<N> {
    readonly element: HTMLElement;
    private readonly canvas = h("canvas", { "aria-hidden": "true" });
    private readonly spacer = h("div");
    private readonly scroller: HTMLElement;
    private readonly bar = h("div", { class: "flame-bar" });
    private readonly mirror: HTMLElement;
    private readonly pen: Pen;
    private content: FlameContent<N> | null = null;
    private boxes: Box<N>[] = [];
    private depth = 0;
    private zoomed = -1;
    private focused = -1;

    /** @zoomedTo: is told when another branch is shown; -1: all. @id: of the elements. */
    constructor(
        private readonly id: string,
        label: string,
        private readonly theme: () => ThemeName,
        private readonly zoomedTo: (node: number) => void = () => undefined,
    ) {
        this.pen = new Pen(this.canvas);
        this.mirror = h("div", {
            class: "mirror",
            role: "treegrid",
            tabindex: 0,
            "aria-label": label,
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

    /** @fresh: the nodes are others than before, so that what was looked at is gone. */
    show(content: FlameContent<N>, fresh: boolean, zoomed = -1): void {
        this.content = content;
        if (fresh) {
            this.boxes = layoutTree(content);
            this.depth = this.boxes.reduce((most, box) => Math.max(most, box.depth + 1), 0);
            this.zoomed = zoomed < this.boxes.length ? zoomed : -1;
            this.focused = this.zoomed;
        }
        this.mirrorBoxes();
        this.resized();
        this.tell(this.focused);
    }

    resized(): void {
        const { clientWidth, clientHeight } = this.scroller;
        if (clientWidth > 0) {
            this.pen.resize(clientWidth, clientHeight);
            this.spacer.style.height = `${this.depth * ROW}px`;
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
        const { pen, content, scroller } = this;
        pen.setTheme(this.theme());
        pen.begin();
        const { surface, width, height } = pen;
        pen.fill(css(surface.background), 0, 0, width, height);
        if (content === null) {
            return;
        }
        if (this.boxes.length === 0) {
            pen.text(content.empty, 12, 12, width - 24, css(surface.quiet), NAME_FONT);
            return;
        }
        const frame = this.frame;
        for (const box of this.boxes) {
            const y = box.depth * ROW - scroller.scrollTop;
            const x0 = ((box.x - frame.x) / frame.width) * width;
            const size = (box.width / frame.width) * width;
            if (y + ROW > 0 && y < height && x0 + size > 0 && x0 < width && size >= 0.4) {
                this.drawBox(content, box, Math.max(x0, 0), Math.min(x0 + size, width), y);
            }
        }
        this.drawFocus();
    }

    private drawBox(
        content: FlameContent<N>,
        box: Box<N>,
        left: number,
        right: number,
        y: number,
    ): void {
        const { pen } = this;
        const { surface } = pen;
        const colour = content.fill(box.node);
        const text = css(colour === null ? surface.dimmedText : fillText(pen.theme));
        const size = right - left;
        const painted = Math.max(size > 3 ? size - 1 : size, 0.5);
        pen.fill(css(colour ?? surface.dimmed), left, y, painted, ROW - 1);
        if (content.underlined?.(box.node) === true) {
            pen.fill(text, left, y + ROW - 3, painted, 2);
        }
        if (size > 30) {
            const label = pen.fit(SMALL_FONT).fitName(content.name(box.node), size - 8);
            pen.context.fillStyle = text;
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
        this.zoomedTo(at);
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
        const { content } = this;
        if (content === null) {
            return;
        }
        const parts: HTMLElement[] = [];
        if (this.zoomed >= 0) {
            parts.push(
                h("button", { type: "button", on: { click: () => this.zoom(-1) } }, "Show all"),
            );
        }
        const box = this.boxes[at] ?? this.boxes[this.zoomed];
        if (box === undefined) {
            parts.push(h("span", { class: "quiet" }, content.about));
        } else {
            parts.push(
                h("strong", {}, printable(content.name(box.node))),
                ...content.facts(box.node).map((fact) => h("span", {}, fact)),
            );
        }
        this.bar.replaceChildren(...parts);
    }

    private mirrorRow(content: FlameContent<N>, { node, index, depth }: Box<N>): HTMLElement {
        return h(
            "div",
            { role: "row", id: `${this.id}-${index}`, "aria-level": depth + 1 },
            h("div", { role: "rowheader" }, printable(content.name(node))),
            ...content.cells(node).map((text) => h("div", { role: "gridcell" }, text)),
        );
    }

    private mirrorBoxes(): void {
        const { content } = this;
        if (content === null) {
            return;
        }
        const head = h("div", { role: "row" });
        for (const title of content.columns) {
            head.append(h("div", { role: "columnheader" }, title));
        }
        const rows = this.boxes.slice(0, MIRRORED).map((box) => this.mirrorRow(content, box));
        this.mirror.replaceChildren(head, ...rows);
        this.mirror.removeAttribute("aria-activedescendant");
    }

    private mirrorFocus(box: Box<N>): void {
        const id = `${this.id}-${box.index}`;
        if (this.content !== null && this.mirror.querySelector(`#${id}`) === null) {
            this.mirror.append(this.mirrorRow(this.content, box));
        }
        this.mirror.setAttribute("aria-activedescendant", id);
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
