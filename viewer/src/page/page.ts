// page.ts - puts the parts of the page together once the trace is known.
import { followAddress, type Address } from "../data/address";
import type { State, ThemeChoice } from "../data/state";
import { bindings } from "./bindings";
import { Commands } from "./commands";
import { h } from "../base/dom";
import { makeHeader } from "./header";
import { makeHelp } from "./help";
import { listen } from "../timeline/input";
import { followKeys } from "./keys";
import { Treegrid } from "../timeline/treegrid";
import { makePanels } from "../panels/all";
import { PanelHost } from "../panels/host";
import type { LeftOutRow, Trace } from "../engine/protocol";
import { Search } from "./search";
import { Minimap, RulerStrip } from "../timeline/minimap";
import { Timeline, type Spot } from "../timeline/timeline";
import { Tooltip } from "../timeline/tooltip";

/** A double click beside the calls. */
const ZOOM_STEP = 1.6;
/** How often a growing trace is looked at, and when all that is asked knows what was seen. */
const GROWING_MS = 2000;
const KNOWN_MS = 1100;

const THEMES: readonly ThemeChoice[] = ["auto", "light", "dark"];

export class Page {
    readonly element: HTMLElement;
    readonly timeline: Timeline;
    private readonly scroller: HTMLElement;
    private readonly minimap: Minimap;
    private readonly ruler: RulerStrip;
    private readonly mirror: Treegrid;
    private readonly searchBox: Search;
    private readonly tooltip: Tooltip;
    private readonly commands: Commands;
    private readonly themeButton: HTMLButtonElement;
    private readonly help: HTMLDialogElement;

    constructor(
        readonly app: State,
        status: HTMLElement,
        opener: HTMLElement,
    ) {
        const tracks = h("canvas", { "aria-hidden": "true" });
        const spacer = h("div");
        const stage = h("div", { class: "stage" });
        this.scroller = h("div", { class: "tracks", "data-tracks": true }, stage, spacer);
        this.timeline = new Timeline(app, tracks, this.scroller, spacer, () => this.painted());
        this.mirror = new Treegrid(app, this.timeline);
        stage.append(this.mirror.element, tracks);
        const minimap = h("canvas", { class: "minimap", "aria-hidden": "true" });
        const ruler = h("canvas", { class: "ruler", "aria-hidden": "true" });
        this.minimap = new Minimap(app, minimap);
        this.ruler = new RulerStrip(app, ruler);
        this.searchBox = new Search(app, () => this.mirror.element.focus({ preventScroll: true }));
        this.tooltip = new Tooltip(app);
        const panels = makePanels(app);
        const host = new PanelHost(app, panels, this.timeline.layout.order);
        this.commands = new Commands(app, this.timeline, this.searchBox, this.scroller);
        const keys = bindings(app, this.commands, this.scroller, panels, this);
        this.help = makeHelp(keys);
        this.themeButton = h("button", {
            type: "button",
            title: "Light, dark, or as the system has it (t)",
            on: { click: () => this.nextTheme() },
        });
        this.element = h(
            "div",
            { class: "page" },
            makeHeader(
                app,
                this.searchBox.element,
                opener,
                h(
                    "button",
                    {
                        type: "button",
                        title: "Show all of it (0)",
                        on: { click: () => app.show(app.whole, true) },
                    },
                    "Whole trace",
                ),
                this.themeButton,
                h(
                    "button",
                    {
                        type: "button",
                        title: "What each key does (?)",
                        on: { click: () => this.showHelp() },
                    },
                    "Keys",
                ),
            ),
            h("main", { "aria-label": "Timeline" }, minimap, ruler, this.scroller),
            host.element,
            status,
            this.tooltip.element,
            this.help,
        );
        listen(app, this.timeline, { tracks, ruler, minimap, scroller: this.scroller }, this);
        followKeys(keys, app.life);
        const system = matchMedia("(prefers-color-scheme: dark)");
        system.addEventListener("change", () => this.setTheme(app.themeChoice), {
            signal: app.life,
        });
    }

    /** Takes what the address asks for; the page must be in the document. */
    begin(address: Address): void {
        const { app } = this;
        this.setTheme(address.theme);
        app.functions.need(0);
        app.compare = address.compare;
        app.otherRange = address.other;
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
            void this.searchBox.run(address.search);
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
        if (app.life.aborted) {
            return;
        }
        try {
            const trace = await app.ask<Trace>("trace", {});
            // Each thread of the server looks at the file itself, once a second: then all of them know this.
            await new Promise((go) => window.setTimeout(go, KNOWN_MS));
            if (app.life.aborted) {
                return;
            }
            this.take(trace);
            if (trace.growing) {
                window.setTimeout(() => void this.grow(), GROWING_MS - KNOWN_MS);
            }
        } catch (error) {
            app.fail(error);
        }
    }

    private take(trace: Trace): void {
        const { app } = this;
        const before = app.whole;
        const { functions, growing, events, left_out } = app.trace;
        if (growing === trace.growing && events === trace.events && functions === trace.functions) {
            return;
        }
        const sawAll = app.view.from <= before.from && app.view.to >= before.to;
        Object.assign(app.trace, trace);
        app.functions.grow(!trace.growing);
        this.timeline.layout.grow();
        app.emit("trace");
        app.emit("tracks");
        if (sawAll) {
            app.show(app.whole);
        }
        if (trace.left_out.functions !== left_out.functions || growing !== trace.growing) {
            void this.loadLeftOut();
        }
        if (app.found !== null && trace.functions !== functions) {
            void this.searchBox.run(app.found.text);
        }
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

    search(): void {
        this.searchBox.focus();
    }

    showHelp(): void {
        this.help.showModal();
    }

    nextTheme(): void {
        const at = THEMES.indexOf(this.app.themeChoice);
        this.setTheme(THEMES[(at + 1) % THEMES.length]!);
    }

    click(spot: Spot, event: PointerEvent): void {
        const { layout } = this.timeline;
        const { lane, span } = spot;
        const isGutter =
            event.clientX - this.scroller.getBoundingClientRect().left < this.timeline.gutter;
        if (lane.kind === "thread" && (isGutter || span === null)) {
            this.commands.setFold(
                lane.thread,
                lane.fold === "folded" ? "some" : lane.hidden > 0 ? "all" : "folded",
            );
        } else if (
            lane.kind === "calls" &&
            isGutter &&
            layout.threadLane(lane.thread).y < this.scroller.scrollTop
        ) {
            this.commands.setFold(lane.thread, "folded");
        } else if (span !== null) {
            void this.commands.lookAt(span, spot.time);
        } else if (!isGutter) {
            this.app.setCall(null);
        }
    }

    doubleClick({ span, lane, time }: Spot): void {
        const { app } = this;
        if (span !== null) {
            void this.commands.fill(span, time);
        } else if (lane.kind === "calls") {
            app.zoom(1 / ZOOM_STEP, 0.5, true);
        }
    }

    hover(spot: Spot | null, x: number, y: number): void {
        this.tooltip.show(spot, x, y);
        this.scroller.classList.toggle("over", spot !== null && spot.span !== null);
    }
}
