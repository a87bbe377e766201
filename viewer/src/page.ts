// page.ts - puts the parts of the page together once the trace is known, and gives the keys their meaning.
import { followAddress, type Address } from "./address";
import type { App, ThemeChoice } from "./app";
import { h, printable } from "./dom";
import { makeHelp } from "./help";
import { listen } from "./input";
import { followKeys, type Key } from "./keys";
import type { Fold } from "./layout";
import { Mirror } from "./mirror";
import { DetailsPanel } from "./panels/details";
import { FlamePanel } from "./panels/flame";
import { HistogramPanel } from "./panels/histogram";
import { PanelHost, type Panel } from "./panels/host";
import { LeftOutPanel } from "./panels/leftout";
import { MarksPanel } from "./panels/marks";
import { SandwichPanel } from "./panels/sandwich";
import { SharesPanel } from "./panels/shares";
import { SourcePanel } from "./panels/source";
import { SqlPanel } from "./panels/sql";
import { TopPanel } from "./panels/top";
import type { Call, LeftOutRow, Trace } from "./protocol";
import { Search } from "./search";
import { Minimap, RulerStrip } from "./strips";
import { Timeline, type SeenSpan, type Spot } from "./timeline";
import { Tooltip } from "./tooltip";
import * as units from "./units";
import * as view from "./view";

const ZOOM_STEP = 1.6;
const PAN_STEP = 0.15;
const SCROLL_STEP = 72;
const GROWING_MS = 2000;

const THEMES: readonly ThemeChoice[] = ["auto", "light", "dark"];

export class Page {
    readonly element: HTMLElement;
    readonly timeline: Timeline;
    private readonly scroller: HTMLElement;
    private readonly minimap: Minimap;
    private readonly ruler: RulerStrip;
    private readonly mirror: Mirror;
    private readonly search: Search;
    private readonly tooltip: Tooltip;
    private readonly panels: readonly Panel[];
    private readonly themeButton: HTMLButtonElement;
    private readonly help: HTMLDialogElement;

    constructor(
        readonly app: App,
        status: HTMLElement,
    ) {
        const tracks = h("canvas", { "aria-hidden": "true" });
        const spacer = h("div");
        const stage = h("div", { class: "stage" });
        this.scroller = h("div", { class: "tracks", "data-tracks": true }, stage, spacer);
        this.timeline = new Timeline(app, tracks, this.scroller, spacer, () => this.painted());
        this.mirror = new Mirror(app, this.timeline);
        stage.append(this.mirror.element, tracks);
        const minimap = h("canvas", { class: "minimap", "aria-hidden": "true" });
        const ruler = h("canvas", { class: "ruler", "aria-hidden": "true" });
        this.minimap = new Minimap(app, minimap);
        this.ruler = new RulerStrip(app, ruler);
        this.search = new Search(app);
        this.tooltip = new Tooltip(app);
        this.panels = makePanels(app);
        const host = new PanelHost(app, this.panels, this.timeline.layout.order);
        const keys = this.keys();
        this.help = makeHelp(keys);
        this.themeButton = h("button", {
            type: "button",
            title: "Light, dark, or as the system has it (t)",
            on: { click: () => this.nextTheme() },
        });
        this.element = h(
            "div",
            { class: "page" },
            this.header(),
            h("main", { "aria-label": "Timeline" }, minimap, ruler, this.scroller),
            host.element,
            status,
            this.tooltip.element,
            this.help,
        );
        listen(app, this.timeline, { tracks, ruler, minimap, scroller: this.scroller }, this);
        followKeys(keys);
        const system = matchMedia("(prefers-color-scheme: dark)");
        system.addEventListener("change", () => this.setTheme(app.themeChoice));
    }

    /** Takes what the address asks for; the page must be in the document. */
    begin(address: Address): void {
        const { app } = this;
        this.setTheme(address.theme);
        app.functions.need(0);
        if (address.frames) {
            app.toggleFrames();
        }
        if (address.panel !== "") {
            app.setPanel(address.panel);
        }
        if (address.selection !== null) {
            app.select(address.selection);
        }
        if (address.view !== null) {
            app.show(address.view);
        }
        if (address.function !== null && address.function < app.trace.functions) {
            app.setFunction(address.function);
        }
        if (address.search !== "") {
            void this.search.run(address.search);
        }
        if (address.call !== null) {
            const { thread, at, depth } = address.call;
            void app.pickCall(thread, at, depth, "The call in the address is not in this trace.");
        }
        followAddress(app);
        app.on("call", () => {
            if (app.call !== null) {
                this.timeline.reveal(app.call.thread, app.call.depth);
            }
        });
        if (app.trace.left_out.functions > 0) {
            void this.loadLeftOut();
        }
        if (app.trace.growing) {
            window.setTimeout(() => void this.grow(), GROWING_MS);
        }
        this.timeline.resized();
    }

    private async loadLeftOut(): Promise<void> {
        try {
            const answer = await this.app.ask<{ rows: LeftOutRow[] }>("left-out", {});
            this.timeline.leftOut = answer.rows;
            this.timeline.plan();
        } catch (error) {
            this.app.fail(error);
        }
    }

    /** The trace is still being recorded: looks again, and follows the end where the whole was in sight. */
    private async grow(): Promise<void> {
        const { app } = this;
        try {
            const before = app.whole;
            const trace = await app.ask<Trace>("trace", {});
            if (
                trace.threads.length === app.trace.threads.length &&
                trace.functions <= app.functions.total
            ) {
                const sawAll = app.view.from <= before.from && app.view.to >= before.to;
                Object.assign(app.trace, { ...trace, threads: app.trace.threads });
                trace.threads.forEach((thread, i) => Object.assign(app.trace.threads[i]!, thread));
                app.emit("trace");
                app.emit("tracks");
                if (sawAll) {
                    app.show(app.whole);
                }
            } else {
                app.say("The trace has new threads or functions: load the page again to see them.");
            }
            if (trace.growing) {
                window.setTimeout(() => void this.grow(), GROWING_MS);
            }
        } catch (error) {
            app.fail(error);
        }
    }

    private header(): HTMLElement {
        const { trace } = this.app;
        const facts = h("span", { class: "quiet" }, describe(trace));
        const chips: HTMLElement[] = [];
        const chip = (text: string, title: string): void => {
            chips.push(h("span", { class: "chip", title }, text));
        };
        if (trace.lost > 0) {
            chip(`${units.shortCount(trace.lost)} events lost`, "Hatched where they are missing");
        }
        if (trace.left_out.functions > 0) {
            chip(
                `${units.count(trace.left_out.functions)} left out`,
                "Functions that were not recorded all the time",
            );
        }
        if (!trace.complete && !trace.growing) {
            chip("not complete", "The recording ended before the file was whole");
        }
        if (trace.growing) {
            chip("recording", "The trace is still being written");
        }
        if (trace.warning !== null) {
            chip("damaged", printable(trace.warning));
        }
        const button = (label: string, title: string, run: () => void): HTMLElement =>
            h("button", { type: "button", title, on: { click: run } }, label);
        return h(
            "header",
            {},
            h("h1", { title: printable(trace.name) }, printable(trace.name)),
            facts,
            ...chips,
            h("span", { class: "spring" }),
            this.search.element,
            button("Whole trace", "Show all of it (0)", () => this.app.show(this.app.whole, true)),
            this.themeButton,
            button("Keys", "What each key does (?)", () => this.help.showModal()),
        );
    }

    private painted(): void {
        const { gutter, pen } = this.timeline;
        this.minimap.draw(gutter, pen.width);
        this.ruler.draw(gutter, pen.width);
        this.mirror.later();
    }

    private setTheme(choice: ThemeChoice): void {
        const { app } = this;
        const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
        app.themeChoice = choice;
        app.theme = choice === "auto" ? (isDark ? "dark" : "light") : choice;
        document.documentElement.dataset["theme"] = app.theme;
        this.themeButton.textContent = `Theme: ${choice}`;
        app.functions.setTheme(app.theme);
        app.emit("theme");
    }

    private nextTheme(): void {
        const at = THEMES.indexOf(this.app.themeChoice);
        this.setTheme(THEMES[(at + 1) % THEMES.length]!);
    }

    click(spot: Spot, event: PointerEvent): void {
        const { layout } = this.timeline;
        const { lane, span } = spot;
        const isGutter =
            event.clientX - this.scroller.getBoundingClientRect().left < this.timeline.gutter;
        if (lane.kind === "thread" && (isGutter || span === null)) {
            this.setFold(
                lane.thread,
                lane.fold === "folded" ? "some" : lane.hidden > 0 ? "all" : "folded",
            );
        } else if (
            lane.kind === "calls" &&
            isGutter &&
            layout.threadLane(lane.thread).y < this.scroller.scrollTop
        ) {
            this.setFold(lane.thread, "folded");
        } else if (span !== null) {
            void this.lookAt(span, spot.time);
        } else if (!isGutter) {
            this.app.setCall(null);
        }
    }

    /** Shows the call under a span. Between several short ones the pointer may miss. */
    private async lookAt(span: SeenSpan, time: number): Promise<Call | null> {
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

    doubleClick({ span, lane }: Spot): void {
        const { app } = this;
        if (span !== null) {
            app.show(view.around({ from: span.from, to: span.to }, app.whole), true);
        } else if (lane.kind === "calls") {
            app.zoom(1 / ZOOM_STEP, 0.5, true);
        }
    }

    hover(spot: Spot | null, x: number, y: number): void {
        this.tooltip.show(spot, x, y);
        this.scroller.classList.toggle("over", spot !== null && spot.span !== null);
    }

    private setFold(thread: number, fold: Fold): void {
        this.timeline.layout.setFold(thread, fold);
        this.app.emit("tracks");
    }

    /** The thread that keys are about: that of the call, else the first in sight. */
    private get thread(): number | null {
        return this.app.call?.thread ?? this.timeline.visibleThreads()[0]?.thread ?? null;
    }

    private fold(): void {
        const { thread } = this;
        if (thread !== null) {
            this.setFold(
                thread,
                this.timeline.layout.fold(thread) === "folded" ? "some" : "folded",
            );
        }
    }

    private foldAll(): void {
        const { layout } = this.timeline;
        const anyOpen = layout.order.some((thread) => layout.fold(thread) !== "folded");
        layout.setAll(anyOpen ? "folded" : "some");
        this.app.emit("tracks");
    }

    private charts(): void {
        const { thread } = this;
        if (thread !== null) {
            this.timeline.layout.nextCharts(thread);
            this.app.emit("tracks");
        }
    }

    /** Moves from the call that is looked at to its caller, its longest callee, or the call beside it. */
    private async walk(to: "caller" | "callee" | "left" | "right"): Promise<void> {
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
            const depth = to === "callee" ? call.depth + 1 : call.depth;
            const span = timeline.neighbour(call, depth, to);
            found = span === null ? null : await app.pickCall(span.thread, span.at, depth);
            if (span === null) {
                app.say(
                    to === "callee"
                        ? "It makes no calls that can be seen; zoom in."
                        : "There is no call in sight on this side.",
                );
            }
        }
        if (found !== null) {
            app.setPanel("details");
            app.show(view.reveal(app.goal, { from: found.start, to: found.end }, app.whole), true);
        }
    }

    private firstCall(): void {
        for (const { thread, rows } of this.timeline.visibleThreads()) {
            const span = this.timeline.wideSpans(thread, Math.max(rows, 1), 0, 1)[0];
            if (span !== undefined) {
                void this.lookAt(span, Math.max(span.from, this.app.view.from));
                return;
            }
        }
        this.app.say("There are no calls in sight.");
    }

    private jump(go: "next" | "previous" | "longest"): void {
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

    private fit(): void {
        const { app } = this;
        const { call, range } = app;
        const shown = range ?? (call === null ? null : { from: call.start, to: call.end });
        if (shown === null) {
            app.say("Select a range or click a call first.");
        } else {
            app.show(view.around(shown, app.whole), true);
        }
    }

    private escape(): void {
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

    private scroll(by: number): void {
        this.scroller.scrollTop += by;
    }

    private keys(): Key[] {
        const { app } = this;
        const pan = (share: number) => (): void => app.pan(share, true);
        const zoom = (factor: number) => (): void => app.zoom(factor, 0.5, true);
        const walk = (to: "caller" | "callee" | "left" | "right") => (): void => void this.walk(to);
        const panels: Key[] = this.panels.slice(0, 9).map((panel, i) => ({
            keys: [String(i + 1)],
            group: "Page",
            what: panel.title,
            run: () => app.setPanel(panel.id),
        }));
        return [
            {
                group: "Move",
                keys: ["w", "+", "="],
                label: "w +",
                what: "zoom in",
                run: zoom(1 / ZOOM_STEP),
            },
            { group: "Move", keys: ["s", "-"], what: "zoom out", run: zoom(ZOOM_STEP) },
            { group: "Move", keys: ["a", "ArrowLeft"], what: "earlier", run: pan(-PAN_STEP) },
            { group: "Move", keys: ["d", "ArrowRight"], what: "later", run: pan(PAN_STEP) },
            {
                group: "Move",
                keys: ["ArrowUp"],
                what: "threads above",
                run: () => this.scroll(-SCROLL_STEP),
            },
            {
                group: "Move",
                keys: ["ArrowDown"],
                what: "threads below",
                run: () => this.scroll(SCROLL_STEP),
            },
            {
                group: "Move",
                keys: ["PageUp"],
                what: "a page up",
                run: () => this.scroll(-this.scroller.clientHeight),
            },
            {
                group: "Move",
                keys: ["PageDown"],
                what: "a page down",
                run: () => this.scroll(this.scroller.clientHeight),
            },
            {
                group: "Move",
                keys: ["Home"],
                what: "begin of the trace",
                run: () => this.toEnd(app.whole.from),
            },
            {
                group: "Move",
                keys: ["End"],
                what: "end of the trace",
                run: () => this.toEnd(app.whole.to),
            },
            {
                group: "Move",
                keys: ["0"],
                what: "the whole trace",
                run: () => app.show(app.whole, true),
            },
            {
                group: "Move",
                keys: ["f"],
                what: "fit the range, or the call",
                run: () => this.fit(),
            },
            {
                group: "Calls",
                keys: ["Enter"],
                what: "look at the first call in sight",
                run: () => this.firstCall(),
            },
            {
                group: "Calls",
                keys: ["Shift+ArrowUp"],
                label: "Shift ↑",
                what: "its caller",
                run: walk("caller"),
            },
            {
                group: "Calls",
                keys: ["Shift+ArrowDown"],
                label: "Shift ↓",
                what: "its longest callee",
                run: walk("callee"),
            },
            {
                group: "Calls",
                keys: ["Shift+ArrowLeft"],
                label: "Shift ←",
                what: "the call before it",
                run: walk("left"),
            },
            {
                group: "Calls",
                keys: ["Shift+ArrowRight"],
                label: "Shift →",
                what: "the call after it",
                run: walk("right"),
            },
            {
                group: "Calls",
                keys: ["n"],
                what: "next call of the function",
                run: () => this.jump("next"),
            },
            {
                group: "Calls",
                keys: ["p", "N"],
                label: "p",
                what: "previous call of the function",
                run: () => this.jump("previous"),
            },
            {
                group: "Calls",
                keys: ["l"],
                what: "its slowest call",
                run: () => this.jump("longest"),
            },
            {
                group: "Range",
                keys: ["v"],
                what: "select the window",
                run: () => app.select({ ...app.goal }),
            },
            {
                group: "Range",
                keys: ["r"],
                what: "select the call's time",
                run: () => this.selectCall(),
            },
            {
                group: "Range",
                keys: ["g"],
                what: "marks every 16.67 ms, from the range's begin",
                run: () => app.toggleFrames(),
            },
            {
                group: "Range",
                keys: ["Escape"],
                what: "clear range, search, call",
                run: () => this.escape(),
            },
            { group: "Page", keys: ["/"], what: "search", run: () => this.search.focus() },
            {
                group: "Page",
                keys: ["c"],
                what: "fold or unfold the thread",
                run: () => this.fold(),
            },
            { group: "Page", keys: ["C"], what: "fold or unfold all", run: () => this.foldAll() },
            {
                group: "Page",
                keys: ["m"],
                what: "charts of the thread: CPU, all, none",
                run: () => this.charts(),
            },
            { group: "Page", keys: ["t"], what: "light or dark", run: () => this.nextTheme() },
            { group: "Page", keys: ["?"], what: "this page", run: () => this.help.showModal() },
            ...panels,
        ];
    }

    private toEnd(time: number): void {
        const half = view.duration(this.app.goal) / 2;
        this.app.show({ from: time - half, to: time + half }, true);
    }

    private selectCall(): void {
        const { call } = this.app;
        if (call === null) {
            this.app.say("Click a call first.");
        } else {
            this.app.select({ from: call.start, to: Math.max(call.end, call.start + 1) });
        }
    }
}

function describe(trace: Trace): string {
    const parts = [`${units.shortCount(trace.calls)} calls`];
    if (trace.processes.length > 1) {
        parts.push(`${units.count(trace.processes.length)} processes`);
    }
    const threads = trace.threads.length;
    parts.push(threads === 1 ? "1 thread" : `${units.count(threads)} threads`);
    parts.push(`${units.shortCount(trace.functions)} functions`);
    return parts.join(", ");
}

/** Those that have something to tell of this trace, in the order of their tabs and keys. */
function makePanels(app: App): Panel[] {
    const { can, threads, left_out } = app.trace;
    const panels: Panel[] = [
        new TopPanel(app),
        new FlamePanel(app),
        new DetailsPanel(app),
        new SandwichPanel(app),
        new HistogramPanel(app),
        new SharesPanel(app),
    ];
    if (threads.some((thread) => thread.marks > 0)) {
        panels.push(new MarksPanel(app));
    }
    if (left_out.functions > 0 || left_out.all) {
        panels.push(new LeftOutPanel(app));
    }
    if (can.includes("source")) {
        panels.push(new SourcePanel(app));
    }
    if (can.includes("sql")) {
        panels.push(new SqlPanel(app));
    }
    return panels;
}
