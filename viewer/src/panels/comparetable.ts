// comparetable.ts - functions or paths of two traces in a table, in the order and of the kind that the panel's state says.
import type { State } from "../data/state";
import * as model from "../data/compare";
import type { Item, Measure, Sort } from "../data/compare";
import { h, printable } from "../base/dom";
import { changeFill, css } from "../base/palette";
import * as units from "../base/units";
import { changed, ratioText, valueText } from "./comparetext";
import { hint } from "./parts";

const LIMITS = [200, 2000, 20_000];

/** Callers that are told beside the name of a path. */
const CALLERS = 12;

const SHORT: Record<Measure, string> = {
    self: "Self",
    total: "Total",
    "self-per-call": "Self/call",
    "total-per-call": "Total/call",
    calls: "Calls",
};

interface Column {
    id: Sort;
    title: string;
    about: string;
}

function columns(measure: Measure): Column[] {
    const title = SHORT[measure];
    const what = model.MEASURES[measure];
    const all: Column[] = [
        { id: "name", title: "", about: "Sort by name" },
        { id: "a", title: `${title} A`, about: `${what} before` },
        { id: "b", title: `${title} B`, about: `${what} after` },
        { id: "change", title: "Change", about: "B minus A; those that changed most first" },
        { id: "ratio", title: "Ratio", about: "B divided by A; those farthest from 1 first" },
    ];
    if (measure !== "calls") {
        all.push(
            { id: "calls-a", title: "Calls A", about: "Number of calls before" },
            { id: "calls-b", title: "Calls B", about: "Number of calls after" },
        );
    }
    return all;
}

export class CompareTable {
    readonly element = h("div", { class: "scrolled" });
    private limit = 0;
    private items: readonly Item[] = [];
    private left = 0;
    private facts = "";

    constructor(
        private readonly app: State,
        private readonly on: { sort(by: Sort): void; open(item: Item): void },
    ) {}

    /** @left: how many more there are that are not among @items. @facts: what stands below. */
    show(items: readonly Item[], left: number, facts: string): void {
        if (items !== this.items) {
            this.limit = 0;
        }
        this.items = items;
        this.left = left;
        this.facts = facts;
        this.build();
    }

    private build(): void {
        const { compare } = this.app;
        const measure = model.measureOf(compare);
        const wanted = model.sorted(this.items.filter(model.isWanted(compare)), compare);
        if (wanted.length === 0) {
            const text = this.items.length === 0 ? "No calls in either." : "None is of that kind.";
            this.element.replaceChildren(hint(text), this.foot(0));
            return;
        }
        const shown = wanted.slice(0, LIMITS[this.limit]);
        const most = wanted.reduce(
            (top, item) => Math.max(top, Math.abs(model.change(item, measure) ?? 0)),
            0,
        );
        const body = h("tbody", {}, ...shown.map((item) => this.row(item, measure, most)));
        const focused = document.activeElement?.closest("[data-sort]")?.getAttribute("data-sort");
        const scroll = this.element.scrollTop;
        this.element.replaceChildren(
            h("table", { class: "table" }, this.head(measure), body),
            this.foot(wanted.length - shown.length),
        );
        this.element.scrollTop = scroll;
        if (focused !== null && focused !== undefined) {
            this.element.querySelector<HTMLElement>(`[data-sort=${focused}]`)?.focus();
        }
    }

    private head(measure: Measure): HTMLElement {
        const { sort, view } = this.app.compare;
        const cells = columns(measure).map(({ id, title, about }) => {
            const isName = id === "name";
            const isSorted = id === sort;
            const mark = h("span", { "aria-hidden": "true", class: "mark" }, isName ? "▲" : "▼");
            const button = h(
                "button",
                {
                    type: "button",
                    class: "plain",
                    title: about,
                    "data-sort": id,
                    on: { click: () => this.on.sort(id) },
                },
                isName ? (view === "paths" ? "Path" : "Function") : title,
                isSorted ? mark : null,
            );
            const order = isName ? "ascending" : "descending";
            return h(
                "th",
                {
                    scope: "col",
                    class: isName ? null : "number",
                    "aria-sort": isSorted ? order : null,
                },
                button,
            );
        });
        return h("thead", {}, h("tr", {}, ...cells));
    }

    private row(item: Item, measure: Measure, most: number): HTMLElement {
        const { theme } = this.app;
        const mark = h("span", { class: "swatch", "aria-hidden": "true" });
        mark.style.backgroundColor = css(changeFill(theme, model.ratio(item, measure)));
        const name = h("span", { class: "cell" }, mark, ...this.name(item));
        const cells = columns(measure)
            .slice(1)
            .map(({ id }) => this.cell(item, id, measure, most));
        return h("tr", {}, h("th", { scope: "row", class: "wide" }, name), ...cells);
    }

    private name(item: Item): HTMLElement[] {
        const [name, place, a, b] = item.function;
        const isHere = (this.app.which === 0 ? a : b) !== null;
        const isPath = item.node >= 0;
        const does = isPath
            ? "Show it in the flame graph"
            : isHere
              ? "Go to its slowest call"
              : `It is only in ${this.app.which === 0 ? "B" : "A"}: go there`;
        const button = h(
            "button",
            {
                type: "button",
                class: "plain name",
                title: printable(`${name}\n${does}`),
                on: { click: () => this.on.open(item) },
            },
            printable(name),
        );
        const parts: HTMLElement[] = [button];
        const about = place === null ? [] : [`[${place}]`];
        let up = item.parent;
        for (let i = 0; up !== null && i < CALLERS; i++, up = up.parent) {
            about.push(`‹ ${up.function[0]}`);
        }
        if (about.length > 0) {
            const text = printable(about.join(" "));
            parts.push(h("span", { class: "quiet callers", title: text }, text));
        }
        return parts;
    }

    private cell(item: Item, id: Sort, measure: Measure, most: number): HTMLElement {
        switch (id) {
            case "a":
            case "b": {
                const side = id === "a" ? 0 : 1;
                const size = model.value(item, measure, side);
                const isTime = measure !== "calls" && size !== null;
                const title = isTime ? units.exactTime(size) : null;
                return h("td", { class: "number", title }, valueText(item, measure, side));
            }
            case "change":
                return this.changeCell(item, measure, most);
            case "ratio":
                return h("td", { class: "number" }, ratioText(item, measure));
            default: {
                const count = model.calls(item, id === "calls-a" ? 0 : 1);
                return h("td", { class: "number" }, count === 0 ? "-" : units.count(count));
            }
        }
    }

    /** The change, with a bar to the right of the middle for what got slower, to the left for what got faster. */
    private changeCell(item: Item, measure: Measure, most: number): HTMLElement {
        const by = model.change(item, measure);
        const cell = h("td", { class: "number" }, changed(item, measure));
        if (by !== null && by !== 0 && most > 0) {
            const bar = h("span", { class: "change-bar", "aria-hidden": "true" });
            const share = (50 * Math.abs(by)) / most;
            bar.style.width = `${share}%`;
            bar.style.left = by > 0 ? "50%" : `${50 - share}%`;
            bar.style.backgroundColor = css(changeFill(this.app.theme, by > 0 ? 2 : 0.5));
            cell.append(bar);
        }
        return cell;
    }

    private foot(hidden: number): HTMLElement {
        const parts = [this.facts];
        if (this.left > 0) {
            parts.push(
                this.left === 1
                    ? "1 that differs less is not told"
                    : `${units.count(this.left)} that differ less are not told`,
            );
        }
        const foot = h("p", { class: "foot" }, `${parts.join(". ")}.`);
        if (hidden > 0 && this.limit + 1 < LIMITS.length) {
            const more = (): void => {
                this.limit++;
                this.build();
            };
            const label = `Show more (${units.count(hidden)} left)`;
            foot.append(" ", h("button", { type: "button", on: { click: more } }, label));
        }
        return foot;
    }
}
