// commands.ts - what keys and clicks do beyond moving the window.
import type { State } from "../data/state";
import type { Fold } from "../data/layout";
import type { Neighbour, SeenSpan } from "../timeline/hit_map";
import type { Call } from "../engine/protocol";
import type { Search } from "./search";
import type { Timeline } from "../timeline/timeline";
import * as view from "../data/view";

export class Commands {
    constructor(
        private readonly app: State,
        private readonly timeline: Timeline,
        private readonly search: Search,
        private readonly scroller: HTMLElement,
    ) {}

    /** Shows the call under a span. Between several short ones the pointer may miss. */
    async lookAt(span: SeenSpan, time: number): Promise<Call | null> {
        const hint = span.several
            ? "Several short calls are here: zoom in to tell them apart (double click)."
            : "There is no call at this point; zoom in.";
        const at = Math.min(Math.max(time, span.from), Math.max(span.from, span.to - 1));
        const call = await this.app.pickCall(span.thread, at, span.depth, hint);
        if (call !== null && this.app.panel !== "details") {
            this.app.setPanel("details");
        }
        return call;
    }

    /** Fills the window with the call of a span, or with short ones that it stands for. */
    async fill(span: SeenSpan, time: number): Promise<void> {
        const { app } = this;
        // What is seen of a call ends where its tile does.
        const call = span.several ? null : await this.lookAt(span, time);
        const { from, to } = call === null ? span : { from: call.start, to: call.end };
        app.show(view.around({ from, to }, app.whole), true);
    }

    setFold(thread: number, fold: Fold): void {
        this.timeline.layout.setFold(thread, fold);
        this.app.emit("tracks");
    }

    /** The thread that keys are about: that of the call, else the first in sight. */
    private get thread(): number | null {
        return this.app.call?.thread ?? this.timeline.visibleThreads()[0]?.thread ?? null;
    }

    fold(): void {
        const { thread } = this;
        if (thread !== null) {
            this.setFold(
                thread,
                this.timeline.layout.fold(thread) === "folded" ? "some" : "folded",
            );
        }
    }

    foldAll(): void {
        const { layout } = this.timeline;
        const anyOpen = layout.order.some((thread) => layout.fold(thread) !== "folded");
        layout.setAll(anyOpen ? "folded" : "some");
        this.app.emit("tracks");
    }

    charts(): void {
        const { thread } = this;
        if (thread !== null) {
            this.timeline.layout.nextCharts(thread);
            this.app.emit("tracks");
        }
    }

    /** Moves from the call that is looked at to its caller, its longest callee, or the call beside it. */
    async walk(to: Neighbour | "caller"): Promise<void> {
        const { app, timeline } = this;
        const { call } = app;
        if (call === null) {
            this.firstCall();
            return;
        }
        let found: Call | null = null;
        if (to === "caller") {
            if (call.depth > 0) {
                found = await app.pickCall(call.thread, call.start, call.depth - 1);
            }
        } else {
            const next = timeline.picture.neighbour(call, to);
            if (next === null) {
                app.say(
                    to === "callee"
                        ? "It makes no calls that can be seen; zoom in."
                        : "There is no call in sight on this side.",
                );
            } else {
                found = await app.pickCall(call.thread, next.at, next.depth);
            }
        }
        if (found !== null) {
            app.setPanel("details");
            app.show(view.reveal(app.goal, { from: found.start, to: found.end }, app.whole), true);
        }
    }

    firstCall(): void {
        for (const { thread, first, end } of this.timeline.visibleThreads()) {
            // A folded thread shows its outermost calls.
            const rows = { thread, first, end: Math.max(end, first + 1) };
            const span = this.timeline.picture.wideSpans(rows, 0, 1)[0];
            if (span !== undefined) {
                void this.lookAt(span, Math.max(span.from, this.app.view.from));
                return;
            }
        }
        this.app.say("There are no calls in sight.");
    }

    jump(go: "next" | "previous" | "longest"): void {
        const { app } = this;
        const { call } = app;
        const id = call?.function ?? app.found?.rows[0]?.function ?? null;
        if (id === null) {
            app.say("Click a call first, or search for a function.");
        } else if (go === "longest") {
            void app.jump({ function: id, go, nth: 1 });
        } else {
            const at = call?.start ?? Math.floor(app.view.from);
            void app.jump({ function: id, go, at, thread: call?.thread ?? null });
        }
    }

    nextColours(): void {
        const by = this.app.functions.nextColours();
        this.app.emit("functions");
        this.app.say(`Hues by ${by}`);
    }

    fit(): void {
        const { app } = this;
        const { call, range } = app;
        const shown = range ?? (call === null ? null : { from: call.start, to: call.end });
        if (shown === null) {
            app.say("Select a range or click a call first.");
        } else {
            app.show(view.around(shown, app.whole), true);
        }
        if (call !== null) {
            // Charts or other threads may have pushed its row out of sight.
            this.timeline.reveal(call.thread, call.depth);
        }
    }

    /** Says so where the marks are too close to be shown, or begin somewhere else than one may think. */
    frames(): void {
        const { app, timeline } = this;
        app.toggleFrames();
        if (!app.frames) {
            app.say("");
        } else if (!timeline.showsFrames) {
            app.say("Marks every 16.67 ms are on: zoom in to see them.");
        } else {
            const from = app.range === null ? "the trace's begin" : "the range's begin";
            app.say(`Marks every 16.67 ms, from ${from}`);
        }
    }

    escape(): void {
        const { app } = this;
        if (app.range !== null || app.threads !== null) {
            app.select(null, null);
        } else if (app.found !== null) {
            this.search.clear();
        } else if (app.call !== null) {
            app.setCall(null);
        }
        app.say("");
    }

    scroll(by: number): void {
        this.scroller.scrollTop += by;
    }

    toEnd(time: number): void {
        const half = view.duration(this.app.goal) / 2;
        this.app.show({ from: time - half, to: time + half }, true);
    }

    selectCall(): void {
        const { call } = this.app;
        if (call === null) {
            this.app.say("Click a call first.");
        } else {
            this.app.select({ from: call.start, to: Math.max(call.end, call.start + 1) });
        }
    }
}
