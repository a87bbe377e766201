// source.ts - the source of a function, where the file is at hand.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import { EngineError } from "../engine/engine";
import type { Panel } from "./host";
import { functionHead, hint, NO_FUNCTION } from "./parts";

/** Lines that are shown around the function; a whole file may have 100,000. */
const BEFORE = 500;
const BEHIND = 2000;

export class SourcePanel implements Panel {
    readonly id = "source";
    readonly title = "Source";
    readonly topics = ["function", "functions"] as const;
    readonly unscoped = true;
    /** Scrolled by keys: there is nothing else in it that could have the focus. */
    readonly element = h("div", { tabindex: 0, "data-keys": true });
    private shown: number | null = null;

    constructor(private readonly app: State) {}

    async update(signal: AbortSignal): Promise<void> {
        const { app } = this;
        const id = app.function;
        if (id === null) {
            this.shown = null;
            this.element.replaceChildren(hint(NO_FUNCTION));
            return;
        }
        if (id === this.shown) {
            return;
        }
        const place = app.functions.place(id);
        try {
            const query = { function: id };
            const source = await app.ask<{ file: string; line: number; text: string }>(
                "source",
                query,
                signal,
            );
            this.shown = id;
            this.show(id, source);
        } catch (error) {
            if (!(error instanceof EngineError) || error.status !== 404) {
                throw error;
            }
            this.element.replaceChildren(
                functionHead(app, id, ...(place === "" ? [] : [printable(place)])),
                hint(printable(error.message)),
            );
        }
    }

    private show(id: number, source: { file: string; line: number; text: string }): void {
        const lines = source.text.split("\n");
        const first = Math.max(1, source.line - BEFORE);
        const last = Math.min(lines.length, source.line + BEHIND);
        const list = h("ol", { class: "source", "aria-label": "Source" });
        list.style.counterReset = `line ${first - 1}`;
        let marked: HTMLElement | null = null;
        for (let line = first; line <= last; line++) {
            const text = printable((lines[line - 1] ?? "").replaceAll("\t", "    "));
            const item = h("li", {}, text === "" ? "\u00a0" : text);
            if (line === source.line) {
                item.classList.add("marked");
                item.setAttribute("aria-current", "location");
                marked = item;
            }
            list.append(item);
        }
        const place = `${source.file}:${source.line}`;
        this.element.replaceChildren(functionHead(this.app, id, printable(place)), list);
        marked?.scrollIntoView({ block: "center" });
    }
}
