// search.ts - the search box: highlights what it finds and lists the functions, most called first.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import type { SearchRow } from "../engine/protocol";
import * as units from "../base/units";

const WAIT_MS = 120;
const FOUND_AT_MOST = 5000;
const LISTED = 50;

export class Search {
    readonly input = h("input", {
        type: "search",
        class: "search",
        placeholder: "Search functions",
        role: "combobox",
        "aria-label": "Search functions",
        "aria-expanded": "false",
        "aria-controls": "found",
        "aria-autocomplete": "list",
        autocomplete: "off",
        spellcheck: "false",
    });
    readonly element: HTMLElement;
    private readonly list = h("ul", {
        id: "found",
        class: "found",
        role: "listbox",
        "aria-label": "Functions found",
    });
    private readonly box = h("div", { class: "found-box", hidden: true });
    private readonly told = h("span", { class: "found-count", role: "status" });
    private timer = 0;
    private abort: AbortController | null = null;
    private chosen = -1;

    /** @leave: gives the focus to the tracks, whose keys go on from what was found. */
    constructor(
        private readonly app: State,
        private readonly leave: () => void,
    ) {
        this.box.append(this.list);
        this.element = h("div", { class: "search-box" }, this.input, this.told, this.box);
        this.input.addEventListener("input", () => {
            window.clearTimeout(this.timer);
            this.timer = window.setTimeout(() => void this.run(this.input.value), WAIT_MS);
        });
        this.input.addEventListener("focus", () => this.open(this.app.found !== null));
        this.input.addEventListener("blur", () => this.open(false));
        this.input.addEventListener("keydown", (event) => this.key(event));
        // The list must not take the focus from the box before its click is seen.
        this.list.addEventListener("pointerdown", (event) => event.preventDefault());
        app.on("functions", () => this.show());
    }

    focus(): void {
        this.input.focus();
        this.input.select();
    }

    clear(): void {
        this.input.value = "";
        void this.run("");
    }

    async run(text: string): Promise<void> {
        if (this.input.value !== text) {
            this.input.value = text;
        }
        this.abort?.abort();
        if (text === "") {
            this.app.setFound(null);
            this.show();
            this.open(false);
            return;
        }
        const abort = (this.abort = new AbortController());
        try {
            const query = { q: text, limit: FOUND_AT_MOST };
            const answer = await this.app.ask<{ rows: SearchRow[]; more: number }>(
                "search",
                query,
                abort.signal,
            );
            if (abort.signal.aborted) {
                return;
            }
            const flags = new Uint8Array(this.app.functions.total);
            for (const row of answer.rows) {
                if (row.function < flags.length) {
                    flags[row.function] = 1;
                }
            }
            this.chosen = -1;
            this.app.setFound({ text, flags, rows: answer.rows, more: answer.more });
            this.show();
            this.open(document.activeElement === this.input);
        } catch (error) {
            if (!abort.signal.aborted) {
                this.told.textContent = error instanceof Error ? error.message : String(error);
            }
        }
    }

    private open(open: boolean): void {
        const isOpen = open && this.list.childElementCount > 0;
        this.box.hidden = !isOpen;
        this.input.setAttribute("aria-expanded", String(isOpen));
        if (!isOpen) {
            this.choose(-1);
        }
    }

    private show(): void {
        const { found, functions } = this.app;
        if (found === null) {
            this.told.textContent = "";
            this.list.replaceChildren();
            return;
        }
        const total = found.rows.length + found.more;
        this.told.textContent = total === 0 ? "nothing found" : `${units.count(total)} found`;
        this.list.replaceChildren(
            ...found.rows.slice(0, LISTED).map((row, i) => {
                const swatch = h("span", { class: "swatch" });
                swatch.style.backgroundColor = `rgb(${functions.rgb(row.function).join(" ")})`;
                return h(
                    "li",
                    {
                        id: `found-${i}`,
                        role: "option",
                        "aria-selected": i === this.chosen ? "true" : "false",
                        on: { click: () => this.take(i) },
                    },
                    swatch,
                    h("span", { class: "name" }, printable(functions.name(row.function))),
                    h(
                        "span",
                        { class: "quiet" },
                        row.calls === null
                            ? ""
                            : `${units.shortCount(row.calls)} call${row.calls === 1 ? "" : "s"}`,
                    ),
                );
            }),
        );
        this.list.scrollTop = 0;
    }

    private choose(i: number): void {
        const options = this.list.children;
        options[this.chosen]?.setAttribute("aria-selected", "false");
        this.chosen = i;
        const option = options[i];
        option?.setAttribute("aria-selected", "true");
        option?.scrollIntoView({ block: "nearest" });
        if (option === undefined) {
            this.input.removeAttribute("aria-activedescendant");
        } else {
            this.input.setAttribute("aria-activedescendant", option.id);
        }
    }

    /** Goes to the longest call of a function that was found. */
    private take(i: number): void {
        const row = this.app.found?.rows[i];
        if (row !== undefined) {
            this.open(false);
            this.leave();
            void this.app.jump({ function: row.function, go: "longest", nth: 1 });
        }
    }

    /** Goes to what was chosen, or else to the first. What has just been typed is looked for before. */
    private async enter(): Promise<void> {
        const text = this.input.value;
        if (text !== (this.app.found?.text ?? "")) {
            window.clearTimeout(this.timer);
            await this.run(text);
        }
        if (text === this.app.found?.text && text === this.input.value) {
            this.take(Math.max(this.chosen, 0));
        }
    }

    private key(event: KeyboardEvent): void {
        const count = this.list.childElementCount;
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            if (count > 0) {
                this.open(true);
                const step = event.key === "ArrowDown" ? 1 : -1;
                this.choose(Math.min(Math.max(this.chosen + step, 0), count - 1));
            }
        } else if (event.key === "Enter") {
            void this.enter();
        } else if (event.key === "Escape") {
            if (!this.box.hidden) {
                this.open(false);
            } else if (this.input.value !== "") {
                this.clear();
            } else {
                this.input.blur();
            }
        } else {
            return;
        }
        event.preventDefault();
    }
}
