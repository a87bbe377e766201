// help.ts - the page of keys.
import { h } from "../base/dom";
import type { Key } from "./keys";

const MOUSE: readonly [string, string][] = [
    ["Drag", "move in time and up and down"],
    ["Shift + drag", "select and measure a range; also a drag on the ruler"],
    ["Ctrl + wheel, pinch", "zoom; also the wheel over ruler and minimap"],
    ["Wheel", "scroll the threads; with Shift: move in time"],
    ["Click, double click", "look at a call; fill the window with it"],
];

/** Arrow keys by their signs. */
function cap(key: string): string {
    return key
        .replace("ArrowLeft", "←")
        .replace("ArrowRight", "→")
        .replace("ArrowUp", "↑")
        .replace("ArrowDown", "↓")
        .replace("+←", " ←");
}

export function makeHelp(keys: readonly Key[]): HTMLDialogElement {
    const groups = new Map<string, HTMLElement>();
    const addTo = (group: string, names: readonly string[], what: string): void => {
        let list = groups.get(group);
        if (list === undefined) {
            list = h("dl");
            groups.set(group, list);
        }
        const caps = names.map((name) => h("kbd", {}, cap(name)));
        list.append(h("dt", {}, ...caps), h("dd", {}, what));
    };
    for (const key of keys) {
        addTo(key.group, key.label === undefined ? key.keys : key.label.split(" "), key.what);
    }
    const mouse = h("dl", { class: "mouse" });
    for (const [what, does] of MOUSE) {
        mouse.append(h("dt", {}, what), h("dd", {}, does));
    }
    groups.set("Mouse", mouse);
    const close = h("button", { type: "button", "aria-label": "Close" }, "Close");
    const all = [...groups].map(([name, list]) => h("section", {}, h("h3", {}, name), list));
    const page = h(
        "div",
        { class: "help-page" },
        h("div", { class: "help-head" }, h("h2", {}, "Keys"), close),
        h("div", { class: "help-groups" }, ...all),
    );
    const dialog = h("dialog", { class: "help", "aria-label": "Keys" }, page);
    close.addEventListener("click", () => dialog.close());
    // A click beside the page: what is behind it is a part of the dialog.
    dialog.addEventListener("click", (event) => {
        if (event.target === dialog) {
            dialog.close();
        }
    });
    return dialog;
}
