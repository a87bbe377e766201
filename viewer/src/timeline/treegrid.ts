// treegrid.ts - the visible part of the canvas as an ARIA treegrid: threads, and in them the calls that are wide enough to
// be seen. Screen readers read it, and the focus of the tracks is in it. It lies under the canvas and is never seen.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import { CallCache } from "./call_cache";
import { threadTitle } from "./lanes";
import type { SeenSpan } from "./hit_map";
import type { Call } from "../engine/protocol";
import type { Timeline } from "./timeline";
import { bound } from "./tooltip";
import * as units from "../base/units";

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

function rowId(span: SeenSpan): string {
    return `call-${span.thread}-${span.depth}-${Math.floor(span.from)}`;
}

/** What the engine says of a call. */
function callCells(app: State, call: Call): string[] {
    return [
        printable(app.functions.name(call.function)),
        `${call.start_bound ? "about " : ""}${units.instant(call.start)}`,
        `${bound(call)}${units.time(call.end - call.start)}, self ${units.time(call.self)}`,
    ];
}

function callRow(app: State, span: SeenSpan, call: Call): HTMLElement {
    return row(rowId(span), span.depth + 2, callCells(app, call));
}

/** What the picture knows of short calls in a row, and of a call until the engine has told of it. */
function seenRow(app: State, span: SeenSpan): HTMLElement {
    const length = units.time(Math.max(1, Math.round(span.to - span.from)), 3);
    const start = units.instant(Math.floor(span.from));
    const isCut = span.before || span.after;
    return row(rowId(span), span.depth + 2, [
        printable(app.functions.name(span.function)),
        span.before ? `began before ${start}` : `about ${start}`,
        [
            isCut ? `more than ${length}` : `about ${length}`,
            span.after ? `goes on after ${units.instant(Math.floor(span.to))}` : "",
            span.several ? "several calls" : "",
        ]
            .filter((text) => text !== "")
            .join(", "),
    ]);
}

export class Treegrid {
    readonly element = h("div", {
        class: "mirror",
        role: "treegrid",
        tabindex: 0,
        "aria-label": "Threads and calls in the window",
        "aria-readonly": "true",
        "data-tracks": true,
    });
    private timer = 0;
    /** The picture knows to a column when calls begin and end, and not at all beyond its tiles: they are asked for. */
    private readonly known: CallCache;

    constructor(
        private readonly app: State,
        private readonly timeline: Timeline,
    ) {
        this.known = new CallCache(app);
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
        this.known.stop();
        this.timer = window.setTimeout(() => this.build(), AFTER_MS);
    }

    private build(): void {
        const { app, timeline } = this;
        const rows: HTMLElement[] = [this.head()];
        const unknown: SeenSpan[] = [];
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
                const call = span.several ? null : this.known.find(span);
                rows.push(call === null ? seenRow(app, span) : callRow(app, span, call));
                if (call === null && !span.several) {
                    unknown.push(span);
                }
            }
        }
        this.element.replaceChildren(...rows);
        this.point();
        this.known.ask(unknown, (span, call) => {
            this.element.querySelector(`#${rowId(span)}`)?.replaceWith(callRow(app, span, call));
        });
    }

    /** The call that is looked at is where the focus is. */
    private point(): void {
        const { call } = this.app;
        this.element.querySelector("[aria-selected]")?.removeAttribute("aria-selected");
        if (call === null) {
            this.element.removeAttribute("aria-activedescendant");
            return;
        }
        const cells = callCells(this.app, call);
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
