// compare.ts - two traces compared: what got slower and faster, by function, by path, and as a flame graph.
import { showTrace } from "../data/address";
import type { State } from "../data/state";
import * as model from "../data/compare";
import type { CompareState, Item } from "../data/compare";
import { h, printable } from "../base/dom";
import type { Query } from "../engine/engine";
import { baseName } from "../data/functions";
import { threadTitle } from "../timeline/lanes";
import { changeFill, css, fillText } from "../base/palette";
import type { Diff, Range, Thread } from "../engine/protocol";
import * as units from "../base/units";
import { duration } from "../data/view";
import { CompareTable } from "./comparetable";
import { changed, compared, ratioText, valueText } from "./comparetext";
import { FlameGraph, type FlameContent } from "./flamegraph";
import type { Panel } from "./host";
import { hint } from "./parts";

const ROWS = 10_000;
const NODES = 8000;
const EVER = Number.MAX_SAFE_INTEGER;

/** The choices of a list, as <option>s. */
function options(words: Readonly<Record<string, string>>): HTMLElement[] {
    return Object.entries(words).map(([value, title]) => h("option", { value }, title));
}

export class ComparePanel implements Panel {
    readonly id = "compare";
    readonly title = "Compare";
    readonly topics = ["selection", "trace", "theme"] as const;
    readonly element = h("div", { class: "compare" });
    private readonly views: HTMLElement;
    private readonly widths: HTMLElement;
    private readonly measure: HTMLSelectElement;
    private readonly kind: HTMLSelectElement;
    private readonly against: HTMLSelectElement;
    private readonly filter: HTMLInputElement;
    private readonly legend = h("span", { class: "legend" });
    private readonly body = h("div", { class: "compare-body" });
    private readonly table: CompareTable;
    private readonly graph: FlameGraph<Item>;
    private asked = "";
    private diff: Diff | null = null;
    private functions: Item[] = [];
    private paths: Item[] = [];
    /** What the flame graph shows: which boxes, and which node alone. */
    private drawn = "";
    private alone = -1;
    private nodes: readonly Item[] = [];

    constructor(private readonly app: State) {
        const list = (label: string, words: Readonly<Record<string, string>>, key: string) =>
            h(
                "select",
                {
                    "aria-label": label,
                    on: {
                        change: (event) =>
                            this.set({ [key]: (event.target as HTMLSelectElement).value }),
                    },
                },
                ...options(words),
            );
        this.views = this.buttons("What is compared", model.VIEWS, "view");
        this.widths = this.buttons("Widths are times of", { a: "A", b: "B" }, "width");
        this.measure = list("What is measured", model.MEASURES, "measure");
        this.kind = list("Which are shown", model.KINDS, "kind");
        this.against = list("Part of the other trace", {}, "against");
        this.filter = h("input", {
            type: "search",
            class: "filter",
            placeholder: "Filter names",
            "aria-label": "Filter names: a part, a pattern with * and ?, or /a regular expression/",
            on: { input: () => this.set({ filter: this.filter.value }) },
        });
        this.table = new CompareTable(app, {
            sort: (sort) => this.set({ sort }),
            open: (item) => this.open(item),
        });
        this.graph = new FlameGraph(
            "difference",
            "Merged calls of both traces, heaviest first",
            () => app.theme,
            (box) => this.zoomed(box),
        );
        if (app.other !== null) {
            const widths = h("span", { class: "labelled" }, "Widths", this.widths);
            this.element.append(
                h(
                    "div",
                    { class: "compare-bar" },
                    this.views,
                    this.measure,
                    this.kind,
                    this.filter,
                    widths,
                    this.legend,
                    this.against,
                ),
                this.body,
            );
        }
    }

    async update(signal: AbortSignal): Promise<void> {
        const { app } = this;
        if (app.other === null) {
            this.element.replaceChildren(...onlyOne(app.trace.name));
            return;
        }
        this.showBar();
        this.showAgainst();
        const query = this.query();
        const asked = JSON.stringify([query, app.trace.end]);
        if (asked !== this.asked || this.diff === null) {
            this.diff = await app.ask<Diff>("diff", query, signal);
            this.asked = asked;
            this.functions = model.functionItems(this.diff);
            this.paths = model.pathItems(this.diff);
            this.drawn = "";
        }
        this.build();
    }

    resized(): void {
        if (this.app.compare.view === "flame") {
            this.graph.resized();
        }
    }

    private buttons(
        label: string,
        words: Readonly<Record<string, string>>,
        key: string,
    ): HTMLElement {
        const buttons = Object.entries(words).map(([value, title]) =>
            h(
                "button",
                {
                    type: "button",
                    "data-value": value,
                    on: { click: () => this.set({ [key]: value }) },
                },
                title,
            ),
        );
        return h("span", { class: "switch", role: "group", "aria-label": label }, ...buttons);
    }

    private set(change: Partial<CompareState>): void {
        const { app } = this;
        app.setCompare(change);
        if (change.against !== undefined) {
            // Something else has to be asked.
            app.emit("selection");
        } else if (this.diff !== null) {
            this.build();
        }
    }

    /** What is done when a row is pressed: a path is shown in the flame graph, a function in the tracks. */
    private open(item: Item): void {
        const { app } = this;
        if (item.node >= 0) {
            const missing = app.compare.width === "a" ? model.isNew(item) : model.isGone(item);
            const other = app.compare.width === "a" ? "b" : "a";
            this.set({
                view: "flame",
                zoom: item.node,
                ...(missing ? { width: other as CompareState["width"] } : {}),
            });
            return;
        }
        const [, , a, b] = item.function;
        const ids = [a, b];
        const here = ids[app.which] ?? null;
        if (here !== null) {
            void app.jump({ function: here, go: "longest", nth: 1 });
        } else {
            showTrace(app, 1 - app.which, ids[1 - app.which] ?? null);
        }
    }

    /* ---- What is asked ---------------------------------------------------------------------- */

    /** The part of the trace that is not shown that is compared; null: all of it. */
    private get otherRange(): Range | null {
        const { range, otherRange, compare } = this.app;
        if (compare.against === "whole") {
            return null;
        }
        return compare.against === "own" && otherRange !== null ? otherRange : range;
    }

    /** The thread of the other trace that stands for the one that is selected here; undefined: there is none. */
    private get otherThread(): number | undefined {
        const { trace, other, threads } = this.app;
        const here = threads?.length === 1 ? trace.threads[threads[0]!] : undefined;
        if (here === undefined || other === null) {
            return undefined;
        }
        const alike = (each: Thread): boolean =>
            each.name === here.name && each.stack === here.stack;
        const nth = trace.threads.filter(alike).indexOf(here);
        const found = other.threads.filter(alike)[nth];
        return found === undefined ? undefined : other.threads.indexOf(found);
    }

    private query(): Query {
        const { app } = this;
        const part = (range: Range | null): [number, number] =>
            range === null
                ? [0, EVER]
                : [Math.max(0, Math.floor(range.from)), Math.max(0, Math.ceil(range.to))];
        const here = part(app.range);
        const there = part(this.otherRange);
        const threads = [app.threads?.join(","), this.otherThread];
        const [a, b] = app.which === 0 ? [here, there] : [there, here];
        const [threadsA, threadsB] = app.which === 0 ? threads : [threads[1], threads[0]];
        return {
            from: a[0],
            to: a[1],
            from_b: b[0],
            to_b: b[1],
            threads: threadsA,
            threads_b: threadsB,
            limit: ROWS,
            nodes: NODES,
            longest: NODES,
        };
    }

    /** The list of parts of the other trace: of use only if something is selected. */
    private showAgainst(): void {
        const { app, against } = this;
        const name = app.which === 0 ? "B" : "A";
        const choices: Record<string, string> = {};
        if (app.otherRange !== null) {
            choices["own"] = `${name}: its selected ${units.time(duration(app.otherRange))}`;
            choices["same"] = `${name}: the same time`;
        } else {
            choices["own"] = `${name}: the same time`;
        }
        choices["whole"] = `all of ${name}`;
        against.replaceChildren(...options(choices));
        against.value = app.compare.against in choices ? app.compare.against : "own";
        against.hidden = app.range === null && app.otherRange === null;
    }

    /* ---- What is shown ---------------------------------------------------------------------- */

    private showBar(): void {
        const { compare } = this.app;
        const isFlame = compare.view === "flame";
        press(this.views, compare.view);
        press(this.widths, compare.width);
        this.measure.value = model.measureOf(compare);
        this.kind.value = compare.kind;
        if (this.filter.value !== compare.filter) {
            this.filter.value = compare.filter;
        }
        this.widths.parentElement!.hidden = !isFlame;
        this.legend.hidden = !isFlame;
    }

    private build(): void {
        const { app, diff } = this;
        if (diff === null) {
            return;
        }
        this.showBar();
        const { view } = app.compare;
        if (view === "flame") {
            this.legend.replaceChildren(...this.scale());
            this.body.replaceChildren(this.graph.element);
            this.draw(diff);
        } else {
            this.drawn = "";
            const items = view === "paths" ? this.paths : this.functions;
            const left = view === "paths" ? diff.folded : diff.more;
            this.body.replaceChildren(this.table.element);
            this.table.show(items, left, this.facts(diff));
        }
    }

    /** The same in few words. */
    private names(diff: Diff): string {
        const sides = diff.sides.map(
            ({ name, self }, i) =>
                `${"AB"[i]} is ${printable(baseName(name))}, ${units.time(self)} in calls`,
        );
        return [...sides, ...this.threadFacts()].join("; ");
    }

    /** What both are as a whole. */
    private facts(diff: Diff): string {
        const sides = diff.sides.map((side, i) => {
            const name = `${"AB"[i]} is ${printable(baseName(side.name))}`;
            const bounds =
                side.bounds > 0
                    ? `, ${units.count(side.bounds)} with a start or end that was not seen`
                    : "";
            return `${name}: ${units.several(side.calls, "call")}, ${units.time(side.self)} in them${bounds}`;
        });
        return [...sides, ...this.threadFacts()].join(". ");
    }

    private threadFacts(): string[] {
        const { app } = this;
        const here = app.threads?.length === 1 ? app.trace.threads[app.threads[0]!] : undefined;
        if (here === undefined || app.other === null) {
            return [];
        }
        const there = this.otherThread;
        const names = [
            printable(threadTitle(here)),
            there === undefined
                ? "all threads, as none has that name"
                : printable(threadTitle(app.other.threads[there]!)),
        ];
        const [a, b] = app.which === 0 ? names : names.reverse();
        return [`Thread of A: ${a}; of B: ${b}`];
    }

    private scale(): HTMLElement[] {
        const { theme, compare } = this.app;
        const colour = (ratio: number): string => css(changeFill(theme, ratio));
        const steps = [0.5, 0.71, 1, 1.41, 2].map(colour);
        const band = h("span", { class: "scale", "aria-hidden": "true" });
        band.style.background = `linear-gradient(to right, ${steps.join(", ")})`;
        const isB = compare.width === "b";
        const mark = h("span", { class: "scale-mark", "aria-hidden": "true" });
        mark.style.backgroundColor = colour(isB ? Infinity : 0);
        mark.style.borderBottomColor = css(fillText(theme));
        return [
            h("span", {}, "half or less"),
            band,
            h("span", {}, "twice or more"),
            mark,
            h("span", {}, isB ? "only in B" : "only in A"),
        ];
    }

    private draw(diff: Diff): void {
        const { app } = this;
        const { compare } = app;
        const side = compare.width === "a" ? 0 : 1;
        const nodes = this.paths.filter((item) => model.calls(item, side) > 0);
        // Colours may change while the boxes stay.
        const key = `${this.asked} ${side}`;
        const isFresh = key !== this.drawn || compare.zoom !== this.alone;
        this.drawn = key;
        this.alone = compare.zoom;
        this.nodes = nodes;
        this.graph.show(
            this.content(diff, nodes, side),
            isFresh,
            nodes.findIndex((item) => item.node === compare.zoom),
        );
    }

    private zoomed(box: number): void {
        this.alone = this.nodes[box]?.node ?? -1;
        this.app.setCompare({ zoom: this.alone });
    }

    private content(diff: Diff, nodes: readonly Item[], side: model.Side): FlameContent<Item> {
        const { theme, compare } = this.app;
        const measure = model.measureOf(compare);
        const isWanted = model.isWanted(compare);
        const name = (item: Item): string => item.function[0];
        return {
            nodes,
            total: diff.sides[side]!.self,
            depth: (item) => item.depth,
            weight: (item) => model.value(item, "total", side) ?? 0,
            name,
            fill: (item) => (isWanted(item) ? changeFill(theme, model.ratio(item, measure)) : null),
            underlined: (item) => model.isNew(item) || model.isGone(item),
            facts: (item) => [
                ...(item.function[1] === null ? [] : [printable(item.function[1])]),
                `total ${compared(item, "total")}`,
                `self ${compared(item, "self")}`,
                `calls ${compared(item, "calls")}`,
            ],
            about: `Click a call to zoom in. ${this.names(diff)}`,
            empty: `No calls in ${"AB"[side]}.`,
            columns: ["Function", "Total A", "Total B", "Change", "Ratio"],
            cells: (item) => [
                valueText(item, "total", 0),
                valueText(item, "total", 1),
                changed(item, "total"),
                ratioText(item, "total"),
            ],
        };
    }
}

function press(group: HTMLElement, value: string): void {
    for (const button of group.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", String(button.dataset["value"] === value));
    }
}

/** What is said where there is nothing to compare with. */
function onlyOne(name: string): HTMLElement[] {
    const command = h(
        "code",
        { class: "command" },
        printable(`nanoscope open ${quoted(name)} AFTER.nst`),
    );
    const text = hint("One trace is open. To compare it with another recording, open both: ");
    text.append(
        command,
        "or drop both files on this page. The same file twice compares two parts of it. ",
        h("code", {}, "nanoscope diff"),
        " tells the same on the command line.",
    );
    return [text];
}

/** As a word of a shell. */
function quoted(name: string): string {
    return /^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
