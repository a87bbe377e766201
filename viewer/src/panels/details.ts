// details.ts - all that is known of one call.
import type { State, Jump } from "../data/state";
import { h, printable } from "../base/dom";
import { threadTitle } from "../timeline/lanes";
import type { Call, StackFrame } from "../engine/protocol";
import { bound } from "../timeline/tooltip";
import * as units from "../base/units";
import * as view from "../data/view";
import type { Panel } from "./host";
import { functionButton, hint, swatch } from "./parts";

/** Callers that are listed at each end of a deep stack. */
const STACK_ENDS = 100;

export class DetailsPanel implements Panel {
    readonly id = "details";
    readonly title = "Details";
    readonly topics = ["call", "view", "functions", "theme"] as const;
    readonly unscoped = true;
    readonly element = h("div");
    private nth = 1;
    private shown: Call | null = null;
    private readonly share = h("dd");

    constructor(private readonly app: State) {
        // Names and colours may be new, so that all of it has to be made again.
        app.on(["functions", "theme"], () => {
            this.shown = null;
        });
    }

    update(): void {
        const { call } = this.app;
        if (call === null) {
            this.shown = null;
            this.element.replaceChildren(
                hint(
                    "Click a call to see its times, its callers and where it stands in the source.",
                ),
            );
            return;
        }
        if (call.function !== this.shown?.function) {
            this.nth = 1;
        }
        this.share.textContent = units.share(this.inWindow(call), view.duration(this.app.view));
        if (call !== this.shown) {
            this.shown = call;
            const focused = this.controls().findIndex((one) => one === document.activeElement);
            this.element.replaceChildren(
                h("div", { class: "columns" }, this.facts(call), this.stack(call)),
            );
            // Who goes from call to call by a button stays on it.
            this.controls()[focused]?.focus();
        }
    }

    private controls(): HTMLElement[] {
        return [...this.element.querySelectorAll<HTMLElement>(".buttons button, .buttons input")];
    }

    /** The part of the call's time that is in the window. */
    private inWindow(call: Call): number {
        const { from, to } = this.app.view;
        return Math.max(0, Math.min(call.end, to) - Math.max(call.start, from));
    }

    private facts(call: Call): HTMLElement {
        const { functions, trace } = this.app;
        const row = functions.row(call.function);
        const total = call.end - call.start;
        const list = h("dl", { class: "facts" });
        const fact = (name: string, value: string | null | undefined): void => {
            if (value !== null && value !== undefined && value !== "") {
                list.append(h("dt", {}, name), h("dd", {}, printable(value)));
            }
        };
        fact("Duration", `${bound(call)}${toTheNs(total)}`);
        fact("Self", `${toTheNs(call.self)}, ${units.share(call.self, total)}`);
        list.append(h("dt", {}, "Share of window"), this.share);
        fact("Start", units.instant(call.start));
        fact("End", units.instant(call.end));
        fact("Thread", threadTitle(trace.threads[call.thread]!));
        fact("Depth", String(call.depth));
        fact("Calls made", call.children === null ? null : units.count(call.children));
        fact("Not exact", whatIsBound(call, trace.exits_bound));
        const line = row?.line ?? 0;
        fact("Source", row?.file && line > 0 ? `${row.file}:${line}` : row?.file);
        fact("Module", row?.module);
        fact("Category", functions.category(call.function));
        const name = h(
            "h2",
            { class: "call-name" },
            swatch(this.app, call.function),
            printable(functions.name(call.function)),
        );
        return h("div", { class: "column" }, name, this.buttons(call), list);
    }

    private buttons(call: Call): HTMLElement {
        const { app } = this;
        const button = (label: string, title: string, run: () => void): HTMLElement =>
            h("button", { type: "button", title, on: { click: run } }, label);
        const bar = h(
            "div",
            { class: "buttons" },
            button("Show", "Fill the window with the call (f)", () =>
                app.show(view.around({ from: call.start, to: call.end }, app.whole), true),
            ),
            button("Select its time", "Analyse the time of the call (r)", () =>
                app.select({ from: call.start, to: Math.max(call.end, call.start + 1) }),
            ),
        );
        const id = call.function;
        if (id !== null) {
            const step = (go: Jump["go"]): void =>
                void app.jump({ function: id, go, thread: call.thread, at: call.start });
            bar.append(
                button("Previous", "Previous call of the function in the thread (p)", () =>
                    step("previous"),
                ),
                button("Next", "Next call of the function in the thread (n)", () => step("next")),
                this.nthSlowest(id),
            );
        }
        return bar;
    }

    private nthSlowest(id: number): HTMLElement {
        const input = h("input", {
            type: "number",
            min: 1,
            value: this.nth,
            class: "nth",
            "aria-label": "Which of the slowest calls",
        });
        const go = (): void => {
            this.nth = Math.max(1, Math.floor(Number(input.value)) || 1);
            void this.app.jump({ function: id, go: "longest", nth: this.nth });
        };
        input.addEventListener("keydown", (event) => {
            if (event.key === "Enter") {
                go();
            }
        });
        const title =
            "Go to the slowest call of the function, the second slowest, ... of the selection";
        return h(
            "span",
            { class: "together" },
            h("button", { type: "button", title, on: { click: go } }, "Slowest no."),
            input,
        );
    }

    private stack(call: Call): HTMLElement {
        const frames = call.stack ?? [];
        const list = h("ol", { class: "stack" });
        const rest = (count: number): HTMLElement =>
            h("li", { class: "quiet" }, `${units.count(count)} more`);
        const outer = call.depth - frames.length;
        if (outer > 0) {
            list.append(rest(outer));
        }
        frames.forEach((frame, i) => {
            if (i < STACK_ENDS || i >= frames.length - STACK_ENDS) {
                list.append(this.frame(call.thread, frame, outer + i));
            } else if (i === STACK_ENDS) {
                list.append(rest(frames.length - 2 * STACK_ENDS));
            }
        });
        const title =
            frames.length === 0 ? "No callers: the outermost call" : "Callers, outermost first";
        return h("div", { class: "column" }, h("h3", {}, title), list);
    }

    private frame(thread: number, frame: StackFrame, depth: number): HTMLElement {
        const { app } = this;
        const go = async (): Promise<void> => {
            const call = await app.pickCall(thread, frame.start, depth);
            if (call !== null) {
                app.show(
                    view.reveal(app.goal, { from: call.start, to: call.end }, app.whole),
                    true,
                );
            }
        };
        return h(
            "li",
            {},
            swatch(app, frame.function),
            functionButton(app, frame.function, () => void go()),
            h("span", { class: "quiet" }, units.time(frame.end - frame.start)),
        );
    }
}

/** "16.67 ms (16,666,667 ns)" */
function toTheNs(ns: number): string {
    return ns < 1000 ? units.time(ns) : `${units.time(ns)} (${units.exactTime(ns)})`;
}

/** @param untimed the recording has the times of entries only */
function whatIsBound(call: Call, untimed: boolean): string {
    if (call.start_bound && call.end_bound) {
        return "neither start nor end was seen";
    }
    if (call.end_bound) {
        return untimed ? "the end was not timed" : "the end was not seen";
    }
    return call.start_bound ? "the start was not seen" : "";
}
