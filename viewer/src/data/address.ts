// address.ts - the state of the page in the fragment of its address, so that a view can be kept and shared with
// somebody who has the same trace. Never leaves the browser: fragments are not sent.
import type { State } from "./state";
import { readCompare, writeCompare, type CompareState } from "./compare";
import type { Range } from "../engine/protocol";

const WRITE_AFTER_MS = 400;

function readRange(text: string | null): Range | null {
    const parts = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
    if (parts === null) {
        return null;
    }
    const range = { from: Number(parts[1]), to: Number(parts[2]) };
    return range.to > range.from ? range : null;
}

function writeRange(range: Range): string {
    return `${Math.round(range.from * 10) / 10}-${Math.round(range.to * 10) / 10}`;
}

export interface Address {
    /** With two traces open: which. */
    trace: number;
    view: Range | null;
    selection: Range | null;
    /** What is selected of the other one. */
    other: Range | null;
    call: { thread: number; at: number; depth: number } | null;
    function: number | null;
    search: string;
    panel: string;
    compare: CompareState;
    frames: boolean;
    theme: "auto" | "light" | "dark";
}

/** What a fragment asks for; what makes no sense in it is passed over. */
export function parseAddress(hash: string): Address {
    const query = new URLSearchParams(hash.replace(/^#/, ""));
    const call = /^(\d+)\.(\d+)\.(\d+)$/.exec(query.get("call") ?? "");
    const theme = query.get("theme");
    return {
        trace: query.get("trace") === "1" ? 1 : 0,
        view: readRange(query.get("view")),
        selection: readRange(query.get("range")),
        other: readRange(query.get("other-range")),
        call:
            call === null
                ? null
                : { thread: Number(call[1]), at: Number(call[2]), depth: Number(call[3]) },
        function: /^\d+$/.test(query.get("function") ?? "") ? Number(query.get("function")) : null,
        search: query.get("search") ?? "",
        panel: query.get("panel") ?? "",
        compare: readCompare(query),
        frames: query.get("frames") === "1",
        theme: theme === "light" || theme === "dark" ? theme : "auto",
    };
}

function write(app: State): string {
    const query = new URLSearchParams();
    const whole = app.whole;
    if (app.which > 0) {
        query.set("trace", String(app.which));
    }
    if (app.goal.from > whole.from || app.goal.to < whole.to) {
        query.set("view", writeRange(app.goal));
    }
    if (app.range !== null) {
        query.set("range", writeRange(app.range));
    }
    if (app.otherRange !== null) {
        query.set("other-range", writeRange(app.otherRange));
    }
    if (app.call !== null) {
        query.set("call", `${app.call.thread}.${app.call.start}.${app.call.depth}`);
    }
    if (app.function !== null && app.function !== app.call?.function) {
        query.set("function", String(app.function));
    }
    if (app.found !== null) {
        query.set("search", app.found.text);
    }
    if (app.panel !== app.firstPanel) {
        query.set("panel", app.panel);
    }
    for (const [key, word] of Object.entries(writeCompare(app.compare))) {
        query.set(key, word);
    }
    if (app.frames) {
        query.set("frames", "1");
    }
    if (app.themeChoice !== "auto") {
        query.set("theme", app.themeChoice);
    }
    return query.toString();
}

/** Keeps the address true from now on. */
export function followAddress(app: State): void {
    let timer = 0;
    const later = (): void => {
        window.clearTimeout(timer);
        timer = window.setTimeout(() => {
            if (app.life.aborted) {
                return;
            }
            const text = write(app);
            history.replaceState(
                null,
                "",
                text === "" ? location.pathname + location.search : `#${text}`,
            );
        }, WRITE_AFTER_MS);
    };
    app.on(
        ["view", "selection", "call", "function", "search", "panel", "compare", "frames", "theme"],
        later,
    );
}

/**
 * The page again, about the other trace: at the same time and panel, but its functions and calls are others, and what is
 * selected of it. @of: the function that it is to be about.
 */
export function showTrace(app: State, which: number, of: number | null = null): void {
    const query = new URLSearchParams(write(app));
    for (const key of ["call", "function", "trace", "range", "other-range"]) {
        query.delete(key);
    }
    if (which > 0) {
        query.set("trace", String(which));
    }
    if (app.otherRange !== null) {
        query.set("range", writeRange(app.otherRange));
    }
    if (app.range !== null) {
        query.set("other-range", writeRange(app.range));
    }
    if (of !== null) {
        query.set("function", String(of));
    }
    location.hash = query.toString();
    app.reload();
}
