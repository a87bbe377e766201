// mirror.ts - the visible part of the canvas as an ARIA treegrid: threads, and in them the calls that are wide enough to
// be seen. Screen readers read it, and the focus of the tracks is in it. It lies under the canvas and is never seen.
import type { App } from "./app";
import { h, printable } from "./dom";
import { threadTitle } from "./lanes";
import type { SeenSpan } from "./picture";
import type { Timeline } from "./timeline";
import * as units from "./units";

const AFTER_MS = 250;
const ROWS_AT_MOST = 240;
const ROWS_A_THREAD = 48;
const LEAST_PIXELS = 12;

function row(
    id: string,
    level: number,
    cells: string[],
    extra: Record<string, string> = {},
): HTMLElement {
    const head = h("div", { role: "rowheader" }, cells[0] ?? "");
    const others = cells.slice(1).map((cell) => h("div", { role: "gridcell" }, cell));
    return h("div", { id, role: "row", "aria-level": level, ...extra }, head, ...others);
}

export class Mirror {
    readonly element = h("div", {
        class: "mirror",
        role: "treegrid",
        tabindex: 0,
        "aria-label": "Threads and calls in the window",
        "aria-readonly": "true",
        "data-tracks": true,
    });
    private timer = 0;

    constructor(
        private readonly app: App,
        private readonly timeline: Timeline,
    ) {
        app.on("call", () => this.point());
        this.element.append(this.head());
    }

    private head(): HTMLElement {
        const cell = (text: string): HTMLElement => h("div", { role: "columnheader" }, text);
        return h("div", { role: "row" }, cell("Name"), cell("Start"), cell("Duration"));
    }

    /** Called after each frame; the tree is made when the picture has come to rest. */
    later(): void {
        window.clearTimeout(this.timer);
        this.timer = window.setTimeout(() => this.build(), AFTER_MS);
    }

    private build(): void {
        const { app, timeline } = this;
        const rows: HTMLElement[] = [this.head()];
        for (const shown of timeline.visibleThreads()) {
            const { thread } = shown;
            if (rows.length >= ROWS_AT_MOST) {
                break;
            }
            const info = app.trace.threads[thread]!;
            const fold = timeline.layout.fold(thread);
            const cells = [
                printable(threadTitle(info)),
                units.instant(info.start),
                `${units.time(info.end - info.start)}, ${units.several(info.calls, "call")}`,
            ];
            const expanded: Record<string, string> =
                info.max_depth > 0 ? { "aria-expanded": fold === "folded" ? "false" : "true" } : {};
            rows.push(row(`thread-${thread}`, 1, cells, expanded));
            const left = Math.min(ROWS_A_THREAD, ROWS_AT_MOST - rows.length);
            for (const span of timeline.picture.wideSpans(shown, LEAST_PIXELS, Math.max(left, 0))) {
                rows.push(this.callRow(span));
            }
        }
        this.element.replaceChildren(...rows);
        this.point();
    }

    private callRow(span: SeenSpan): HTMLElement {
        const id = `call-${span.thread}-${span.depth}-${Math.floor(span.from)}`;
        const length = units.time(Math.max(1, Math.round(span.to - span.from)), 3);
        const cells = [
            printable(this.app.functions.name(span.function)),
            units.instant(Math.floor(span.from)),
            span.several ? `about ${length}, several calls` : `about ${length}`,
        ];
        return row(id, span.depth + 2, cells);
    }

    /** The call that is looked at is where the focus is. */
    private point(): void {
        const { call } = this.app;
        this.element.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
        if (call === null) {
            this.element.removeAttribute("aria-activedescendant");
            return;
        }
        const cells = [
            printable(this.app.functions.name(call.function)),
            units.instant(call.start),
            `${units.time(call.end - call.start)}, self ${units.time(call.self)}`,
        ];
        const id = "call-looked-at";
        const made = row(id, call.depth + 2, cells, { "aria-selected": "true" });
        const old = this.element.querySelector(`#${id}`);
        if (old !== null) {
            old.replaceWith(made);
        } else {
            const parent = this.element.querySelector(`#thread-${call.thread}`);
            if (parent === null) {
                this.element.append(made);
            } else {
                parent.after(made);
            }
        }
        this.element.setAttribute("aria-activedescendant", id);
    }
}
