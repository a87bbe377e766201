// tooltip.ts - what the pointer rests on: at once what the picture knows, then the exact call.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import type { Call } from "../engine/protocol";
import type { SeenSpan } from "./hit_map";
import type { Gap } from "../data/tile";
import type { Spot } from "./timeline";
import * as units from "../base/units";
import { duration } from "../data/view";

const REST_MS = 70;

function gapText({ lost, leftOut }: Gap): string {
    const left = `the budget left ${units.several(leftOut, "event")} out here`;
    if (leftOut > 0 && lost === 0) {
        return left;
    }
    const text =
        lost === null
            ? "events were lost here"
            : `${units.several(lost, "event")} ${lost === 1 ? "was" : "were"} lost here`;
    return leftOut > 0 ? `${text}, and ${left}` : text;
}

export class Tooltip {
    readonly element = h("div", { class: "tooltip", "aria-hidden": "true", hidden: true });
    private timer = 0;
    private abort: AbortController | null = null;
    private shown = "";

    constructor(private readonly app: State) {}

    hide(): void {
        window.clearTimeout(this.timer);
        this.abort?.abort();
        this.abort = null;
        this.shown = "";
        this.element.hidden = true;
    }

    show(spot: Spot | null, x: number, y: number): void {
        const span = spot?.span ?? null;
        const gap = spot?.gap ?? null;
        if (spot === null || (span === null && gap === null)) {
            this.hide();
            return;
        }
        const key =
            span === null ? "gap" : `${span.thread}/${span.depth}/${span.function}/${span.from}`;
        if (key !== this.shown) {
            this.hide();
            this.shown = key;
            if (span !== null) {
                this.fill(span, null);
                this.timer = window.setTimeout(() => void this.ask(span, spot.time, x, y), REST_MS);
            }
        }
        if (span === null && gap !== null) {
            this.element.replaceChildren(h("span", {}, gapText(gap)));
        }
        this.element.hidden = false;
        this.place(x, y);
    }

    private place(x: number, y: number): void {
        const { element } = this;
        const { offsetWidth, offsetHeight } = element;
        const left = x + 14 + offsetWidth > innerWidth - 8 ? x - offsetWidth - 10 : x + 14;
        const top = y + 18 + offsetHeight > innerHeight - 8 ? y - offsetHeight - 10 : y + 18;
        element.style.left = `${Math.max(4, left)}px`;
        element.style.top = `${Math.max(4, top)}px`;
    }

    private async ask(span: SeenSpan, at: number, x: number, y: number): Promise<void> {
        const abort = (this.abort = new AbortController());
        try {
            const query = { thread: span.thread, at: Math.floor(at), depth: span.depth };
            const call = await this.app.ask<Call>("call", query, abort.signal);
            if (!abort.signal.aborted) {
                this.fill(span, call);
                this.place(x, y);
            }
        } catch {
            // The picture's answer stays; a click tells what is wrong.
        }
    }

    private fill(span: SeenSpan, call: Call | null): void {
        const { functions, view } = this.app;
        const id = call?.function ?? span.function;
        const lines = [h("strong", {}, printable(functions.name(id)))];
        const place = functions.place(id);
        if (call !== null) {
            const total = call.end - call.start;
            lines.push(
                h("span", {}, `${bound(call)}${units.time(total)}, self ${units.time(call.self)}`),
            );
            const seen = Math.min(call.end, view.to) - Math.max(call.start, view.from);
            lines.push(h("span", {}, `${units.share(seen, duration(view))} of the window`));
        } else if (span.several) {
            lines.push(h("span", {}, "several short calls; zoom in to tell them apart"));
        }
        if (place !== "") {
            lines.push(h("span", { class: "quiet" }, printable(place)));
        }
        this.element.replaceChildren(...lines);
    }
}

/** A bound is an estimate: the start or the end was not seen, or not timed. */
export function bound(call: Call): string {
    return call.start_bound || call.end_bound ? "about " : "";
}
