// host.ts - the panels below the tracks: tabs, the scope that analyses are about, and when a panel has to be filled again.
// A panel is a file of its own that makes a `Panel`; main.ts lists them.
import type { State, Topic } from "../data/state";
import { h, printable } from "../base/dom";
import { isAbort } from "../engine/engine";
import { threadTitle } from "../timeline/lanes";
import * as units from "../base/units";
import { duration } from "../data/view";

export interface Panel {
    readonly id: string;
    readonly title: string;
    readonly element: HTMLElement;
    /** It is filled again when one of these changes. */
    readonly topics: readonly Topic[];
    /** Fills it. The signal fires when the answer is not wanted any more. */
    update(signal: AbortSignal): Promise<void> | void;
    /** It has come into sight or changed its size. */
    resized?(): void;
    /** True if the scope above the panel does not matter to it. */
    readonly unscoped?: boolean;
}

const WAIT_MS = 120;
/** After this the panel says that it is still being filled. */
const WORKING_MS = 600;
const LEAST_HEIGHT = 90;
/** Threads in the list of the scope; with more of them it offers those with most calls. */
const LISTED_THREADS = 500;

export class PanelHost {
    readonly element: HTMLElement;
    private readonly tabs = h("div", { role: "tablist", class: "tabs", "aria-label": "Panels" });
    private readonly scope = h("div", { class: "scope" });
    private readonly body = h("div", { class: "panel-body" });
    /** Stands in for a panel that could not be filled. */
    private readonly problem = h("p", { class: "hint", hidden: true });
    private readonly handle: HTMLElement;
    private readonly threads: HTMLSelectElement;
    private readonly stale = new Set<string>();
    private timer = 0;
    private working = 0;
    private abort: AbortController | null = null;
    private height = 0;

    constructor(
        private readonly app: State,
        private readonly panels: readonly Panel[],
        /** Threads as they are shown; more of them in a trace that grows. */
        private readonly order: readonly number[],
    ) {
        this.handle = h("div", {
            class: "handle",
            role: "separator",
            tabindex: 0,
            "aria-orientation": "horizontal",
            "aria-label": "Height of the panels",
            "data-keys": true,
        });
        this.threads = this.threadList();
        for (const panel of panels) {
            this.addTab(panel);
            this.stale.add(panel.id);
            panel.element.id = `panel-${panel.id}`;
            panel.element.setAttribute("role", "tabpanel");
            panel.element.setAttribute("aria-labelledby", `tab-${panel.id}`);
            panel.element.classList.add("panel");
            this.body.append(panel.element);
            app.on(panel.topics, () => this.mark(panel));
        }
        this.body.append(this.problem);
        const bar = h("div", { class: "panel-bar" }, this.tabs, this.scope);
        this.element = h(
            "section",
            { class: "panels", "aria-label": "Analyses" },
            this.handle,
            bar,
            this.body,
        );
        app.on("panel", () => this.show());
        app.on("selection", () => this.showScope());
        app.on("trace", () => {
            if (this.threads.length <= Math.min(order.length, LISTED_THREADS)) {
                this.showScope();
            }
        });
        this.listenToHandle();
        new ResizeObserver(() => this.current?.resized?.()).observe(this.body);
        // Who opens two traces wants to compare them rather than look at one.
        const [share, most] = app.other === null ? [0.33, 620] : [0.55, 1100];
        this.setHeight(Math.round(Math.min(Math.max(innerHeight * share, 190), most)));
        this.showScope();
        this.show();
    }

    private get current(): Panel | undefined {
        return this.panels.find((panel) => panel.id === this.app.panel) ?? this.panels[0];
    }

    private addTab(panel: Panel): void {
        this.tabs.append(
            h(
                "button",
                {
                    role: "tab",
                    id: `tab-${panel.id}`,
                    "aria-controls": `panel-${panel.id}`,
                    type: "button",
                    on: {
                        click: () => this.app.setPanel(panel.id),
                        keydown: (event) => this.tabKey(event),
                    },
                },
                panel.title,
            ),
        );
    }

    private tabKey(event: KeyboardEvent): void {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        const at = this.panels.findIndex((panel) => panel === this.current);
        const next = this.panels[(at + step + this.panels.length) % this.panels.length];
        if (step !== 0 && next !== undefined) {
            event.preventDefault();
            this.app.setPanel(next.id);
            this.tabs.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
        }
    }

    private show(): void {
        const { current } = this;
        for (const panel of this.panels) {
            const isShown = panel === current;
            panel.element.hidden = !isShown;
            const tab = this.tabs.querySelector(`#tab-${panel.id}`)!;
            tab.setAttribute("aria-selected", String(isShown));
            tab.setAttribute("tabindex", isShown ? "0" : "-1");
            if (isShown) {
                tab.scrollIntoView({ block: "nearest", inline: "nearest" });
            }
        }
        this.problem.hidden = true;
        this.scope.classList.toggle("off", current?.unscoped === true);
        current?.resized?.();
        this.fill();
    }

    private mark(panel: Panel): void {
        this.stale.add(panel.id);
        if (panel === this.current) {
            window.clearTimeout(this.timer);
            this.timer = window.setTimeout(() => this.fill(), WAIT_MS);
        }
    }

    private fill(): void {
        const { current } = this;
        if (current === undefined || !this.stale.delete(current.id)) {
            return;
        }
        this.abort?.abort();
        const { signal } = (this.abort = new AbortController());
        current.element.setAttribute("aria-busy", "true");
        window.clearTimeout(this.working);
        this.working = window.setTimeout(() => this.tell(current, "Working..."), WORKING_MS);
        Promise.resolve(current.update(signal)).then(
            () => {
                this.done(current);
                this.tell(current, "");
            },
            (error: unknown) => {
                if (isAbort(error)) {
                    // Another fill is under way, or the panel is out of sight and is filled when it comes back.
                    this.stale.add(current.id);
                    return;
                }
                this.done(current);
                this.tell(current, error instanceof Error ? error.message : String(error));
            },
        );
    }

    private done(panel: Panel): void {
        window.clearTimeout(this.working);
        panel.element.removeAttribute("aria-busy");
    }

    private tell(panel: Panel, problem: string): void {
        if (panel === this.current) {
            this.problem.textContent = problem;
            const wasHidden = panel.element.hidden;
            this.problem.hidden = problem === "";
            panel.element.hidden = problem !== "";
            // What is filled while it is hidden has no size to be drawn in.
            if (wasHidden && problem === "") {
                panel.resized?.();
            }
        }
    }

    private threadList(): HTMLSelectElement {
        const { app } = this;
        return h("select", {
            "aria-label": "Threads",
            on: {
                change: () => {
                    const { value } = this.threads;
                    app.select(app.range, value === "" ? null : [Number(value)]);
                },
            },
        });
    }

    /** Made anew only when there are more of them. */
    private fillThreads(): void {
        const listed = this.order.slice(0, LISTED_THREADS);
        if (this.threads.length === listed.length + 1) {
            return;
        }
        const options = listed.map((index) => {
            const title = printable(threadTitle(this.app.trace.threads[index]!));
            return h("option", { value: index }, title);
        });
        this.threads.replaceChildren(h("option", { value: "" }, "all threads"), ...options);
    }

    private showScope(): void {
        const { app } = this;
        const { range } = app;
        this.fillThreads();
        this.threads.value = app.threads?.length === 1 ? String(app.threads[0]) : "";
        const text = range === null ? "Whole trace" : `Selected ${units.time(duration(range))}`;
        const button = (label: string, title: string, run: () => void): HTMLElement =>
            h("button", { type: "button", title, on: { click: run } }, label);
        this.scope.replaceChildren(
            h("span", { class: "scope-text" }, text),
            range === null
                ? button("Use window", "Analyse what is in sight (v)", () =>
                      app.select({ ...app.goal }),
                  )
                : button("Clear", "Analyse the whole trace (Escape)", () => app.select(null)),
            app.trace.threads.length > 1 ? this.threads : "",
        );
    }

    private setHeight(height: number): void {
        const most = Math.max(LEAST_HEIGHT, innerHeight - 260);
        this.height = Math.min(Math.max(height, LEAST_HEIGHT), most);
        this.element.style.height = `${this.height}px`;
        this.handle.setAttribute("aria-valuenow", String(this.height));
        this.handle.setAttribute("aria-valuemin", String(LEAST_HEIGHT));
        this.handle.setAttribute("aria-valuemax", String(most));
    }

    private listenToHandle(): void {
        const { handle } = this;
        handle.addEventListener("pointerdown", (event) => {
            const [start, before] = [event.clientY, this.height];
            handle.setPointerCapture(event.pointerId);
            const move = (next: PointerEvent): void =>
                this.setHeight(before + start - next.clientY);
            handle.addEventListener("pointermove", move);
            handle.addEventListener(
                "lostpointercapture",
                () => handle.removeEventListener("pointermove", move),
                { once: true },
            );
        });
        handle.addEventListener("keydown", (event) => {
            const step = event.key === "ArrowUp" ? 24 : event.key === "ArrowDown" ? -24 : 0;
            if (step !== 0) {
                event.preventDefault();
                this.setHeight(this.height + step);
            }
        });
        window.addEventListener("resize", () => this.setHeight(this.height), {
            signal: this.app.life,
        });
    }
}
