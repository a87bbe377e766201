// parts.ts - what several panels are made of.
import type { App } from "../app";
import { h, printable } from "../dom";
import { css } from "../palette";

/** The colour of a function's calls, for the eye only. */
export function swatch(app: App, id: number | null): HTMLElement {
    const mark = h("span", { class: "swatch", "aria-hidden": "true" });
    mark.style.backgroundColor = css(app.functions.rgb(id));
    return mark;
}

/** A function's name that does something when it is pressed. */
export function functionButton(app: App, id: number | null, run: () => void): HTMLElement {
    const { functions } = app;
    const title = [functions.name(id), functions.place(id)]
        .filter((text) => text !== "")
        .join("\n");
    return h(
        "button",
        { type: "button", class: "plain name", title: printable(title), on: { click: run } },
        printable(functions.name(id)),
    );
}

export function hint(text: string): HTMLElement {
    return h("p", { class: "hint" }, text);
}
