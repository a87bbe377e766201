// parts.ts - what several panels are made of.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import { css } from "../base/palette";
import * as units from "../base/units";

/** The colour of a function's calls, for the eye only. */
export function swatch(app: State, id: number | null): HTMLElement {
    const mark = h("span", { class: "swatch", "aria-hidden": "true" });
    mark.style.backgroundColor = css(app.functions.rgb(id));
    return mark;
}

/** A function's name that does something when it is pressed. */
export function functionButton(app: State, id: number | null, run: () => void): HTMLElement {
    const { functions } = app;
    const title = [functions.name(id), functions.place(id)]
        .filter((text) => text !== "")
        .join("\n");
    return h(
        "button",
        { type: "button", class: "plain name", title: printable(title), on: { click: run } },
        printable(functions.name(id)) || "…",
    );
}

export function hint(text: string): HTMLElement {
    return h("p", { class: "hint" }, text);
}

export function noCalls(app: State): string {
    return app.range === null && app.threads === null
        ? "No calls in the trace."
        : "No calls in the selection.";
}

export interface Column {
    title: string;
    number?: boolean;
    /** Takes the room that is left; the first column if none does. */
    wide?: boolean;
}

export type Cell = Node | string;

/** A table whose first column names the row. */
export function table(
    about: string,
    columns: readonly Column[],
    rows: readonly (readonly Cell[])[],
): HTMLElement {
    const wide = Math.max(
        0,
        columns.findIndex((column) => column.wide === true),
    );
    const look = (i: number): string | null =>
        i === wide ? "wide" : columns[i]?.number === true ? "number" : null;
    const heads = columns.map(({ title }, i) => h("th", { scope: "col", class: look(i) }, title));
    const lines = rows.map((row) => {
        const [name, ...others] = row;
        const cells = others.map((cell, i) => h("td", { class: look(i + 1) }, cell));
        return h("tr", {}, h("th", { scope: "row", class: look(0) }, name), ...cells);
    });
    return h(
        "table",
        { class: "table", "aria-label": about },
        h("thead", {}, h("tr", {}, ...heads)),
        h("tbody", {}, ...lines),
    );
}

/** A share as text and as a bar. */
export function shareCell(part: number, whole: number): HTMLElement {
    const bar = h("span", { class: "share-bar" });
    bar.style.width = `${whole > 0 ? Math.min(Math.max(part / whole, 0), 1) * 100 : 0}%`;
    const track = h("span", { class: "share-track", "aria-hidden": "true" }, bar);
    return h("span", { class: "share" }, track, h("span", {}, units.share(part, whole)));
}

/** The head of a panel that is about one function. */
export function functionHead(app: State, id: number, ...facts: string[]): HTMLElement {
    return h(
        "div",
        { class: "function-head" },
        swatch(app, id),
        h("strong", { class: "name" }, printable(app.functions.name(id))),
        ...facts.map((fact) => h("span", { class: "quiet" }, fact)),
    );
}

export const NO_FUNCTION = "Click a call, choose a function in Top functions, or search for one.";

/** "1 more mark", "2 more marks". */
export function more(count: number, noun: string): HTMLElement | "" {
    return count > 0 ? h("p", { class: "foot" }, units.several(count, `more ${noun}`)) : "";
}
