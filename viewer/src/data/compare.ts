// compare.ts - two traces side by side: what is measured of a function or a path in both, how far that is apart, and which
// of them are shown in which order. Pure.
import type { Diff, DiffFunction, DiffSums } from "../engine/protocol";

export const VIEWS = { functions: "Functions", paths: "Paths", flame: "Flame graph" } as const;
export type View = keyof typeof VIEWS;

export const MEASURES = {
    self: "Self time",
    total: "Total time",
    "self-per-call": "Self time per call",
    "total-per-call": "Total time per call",
    calls: "Calls",
} as const;
export type Measure = keyof typeof MEASURES;

export const KINDS = {
    all: "Show all",
    slower: "Slower or more",
    faster: "Faster or less",
    new: "Only in B",
    gone: "Only in A",
} as const;
export type Kind = keyof typeof KINDS;

export const SORTS = ["change", "ratio", "name", "a", "b", "calls-a", "calls-b"] as const;
export type Sort = (typeof SORTS)[number];

/** What the panel shows; stands in the address of the page. */
export interface CompareState {
    view: View;
    /** null: what suits the view. */
    measure: Measure | null;
    kind: Kind;
    sort: Sort;
    filter: string;
    /** Which trace the widths of the flame graph are of. */
    width: "a" | "b";
    /** The box of the flame graph that is shown alone; -1: none. */
    zoom: number;
    /** Which part of the trace that is not shown: its own range or else the same time, the same time, all of it. */
    against: "own" | "same" | "whole";
}

export const COMPARE: Readonly<CompareState> = {
    view: "functions",
    measure: null,
    kind: "all",
    sort: "change",
    filter: "",
    width: "b",
    zoom: -1,
    against: "own",
};

/** Those parts of a state that are not as they are at first, as words of an address. */
export function writeCompare(state: CompareState): Record<string, string> {
    const words: Record<string, string> = {};
    for (const key of Object.keys(COMPARE) as (keyof CompareState)[]) {
        if (state[key] !== COMPARE[key]) {
            words[key === "view" ? "compare" : `compare-${key}`] = String(state[key]);
        }
    }
    return words;
}

export function readCompare(query: URLSearchParams): CompareState {
    const word = <T extends string>(key: string, words: readonly T[], otherwise: T): T =>
        words.find((each) => each === query.get(key)) ?? otherwise;
    const measure = query.get("compare-measure") ?? "";
    const zoom = query.get("compare-zoom") ?? "";
    return {
        view: word("compare", Object.keys(VIEWS) as View[], COMPARE.view),
        measure: Object.hasOwn(MEASURES, measure) ? (measure as Measure) : null,
        kind: word("compare-kind", Object.keys(KINDS) as Kind[], COMPARE.kind),
        sort: word("compare-sort", SORTS, COMPARE.sort),
        filter: query.get("compare-filter") ?? "",
        width: word("compare-width", ["a", "b"], COMPARE.width),
        zoom: /^\d{1,6}$/.test(zoom) ? Number(zoom) : -1,
        against: word("compare-against", ["own", "same", "whole"], COMPARE.against),
    };
}

/** What is measured where the user has not said. */
export function measureOf(state: CompareState): Measure {
    return state.measure ?? (state.view === "flame" ? "total" : "self");
}

export type Side = 0 | 1;

/** A function, or a path of calls. */
export interface Item {
    function: DiffFunction;
    /** calls, total and self, each of A and of B. */
    sums: DiffSums;
    depth: number;
    /** The path above; null: none, or no path. */
    parent: Item | null;
    /** Its place among the nodes; -1: is no path. */
    node: number;
}

export function functionItems(diff: Diff): Item[] {
    return diff.rows.map(([of, ...sums]) => ({
        function: diff.functions[of]!,
        sums,
        depth: 0,
        parent: null,
        node: -1,
    }));
}

export function pathItems(diff: Diff): Item[] {
    const open: Item[] = [];
    return diff.nodes.map(([of, depth, ...sums], node) => {
        const level = Math.min(depth, open.length);
        const item: Item = {
            function: diff.functions[of]!,
            sums,
            depth: level,
            parent: open[level - 1] ?? null,
            node,
        };
        open.length = level;
        open.push(item);
        return item;
    });
}

export function calls({ sums }: Item, side: Side): number {
    return sums[side];
}

/** What is measured of one trace; null: not called there. */
export function value(item: Item, measure: Measure, side: Side): number | null {
    const { sums } = item;
    const n = sums[side];
    if (n === 0) {
        return null;
    }
    const total = side === 0 ? sums[2] : sums[3];
    const self = side === 0 ? sums[4] : sums[5];
    switch (measure) {
        case "self":
            return self;
        case "total":
            return total;
        case "self-per-call":
            return self / n;
        case "total-per-call":
            return total / n;
        default:
            return n;
    }
}

/** B minus A; null: there is nothing to compare, as a call that was not made took no time. */
export function change(item: Item, measure: Measure): number | null {
    const [a, b] = [value(item, measure, 0), value(item, measure, 1)];
    if (measure.endsWith("per-call") && (a === null || b === null)) {
        return null;
    }
    return (b ?? 0) - (a ?? 0);
}

/** B divided by A: 0 for what is gone, Infinity for what is new, 1 for what was nothing and still is. */
export function ratio(item: Item, measure: Measure): number {
    const [a, b] = [value(item, measure, 0), value(item, measure, 1)];
    if (a === null || b === null) {
        return a === null ? Infinity : 0;
    }
    return a === b ? 1 : b / a;
}

export function isNew(item: Item): boolean {
    return item.sums[0] === 0;
}

export function isGone(item: Item): boolean {
    return item.sums[1] === 0;
}

function isOfKind(item: Item, measure: Measure, kind: Kind): boolean {
    switch (kind) {
        case "slower":
            return (change(item, measure) ?? 0) > 0;
        case "faster":
            return (change(item, measure) ?? 0) < 0;
        case "new":
            return isNew(item);
        case "gone":
            return isGone(item);
        default:
            return true;
    }
}

/** Whether a name fits what was typed: a part of it in letters of either case, a glob, or /a regular expression/. */
export function nameFilter(text: string): (name: string) => boolean {
    const expression = /^\/(.+)\/$/.exec(text)?.[1];
    if (expression !== undefined) {
        try {
            const regexp = new RegExp(expression);
            return (name) => regexp.test(name);
        } catch {
            return () => false;
        }
    }
    if (/[*?]/.test(text)) {
        const escaped = text.replace(/[.+^${}()|[\]\\]/g, "\\$&");
        const regexp = new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "is");
        return (name) => regexp.test(name);
    }
    const part = text.toLowerCase();
    return (name) => name.toLowerCase().includes(part);
}

export function isWanted(state: CompareState): (item: Item) => boolean {
    const measure = measureOf(state);
    const fits = nameFilter(state.filter);
    return (item) => isOfKind(item, measure, state.kind) && fits(item.function[0]);
}

/** What is sorted by, greatest first; names are compared as such. */
function weight(item: Item, sort: Sort, measure: Measure): number {
    switch (sort) {
        case "a":
            return value(item, measure, 0) ?? -1;
        case "b":
            return value(item, measure, 1) ?? -1;
        case "calls-a":
            return calls(item, 0);
        case "calls-b":
            return calls(item, 1);
        case "ratio":
            return Math.abs(Math.log(ratio(item, measure)));
        case "change": {
            const by = change(item, measure);
            return by === null ? -1 : Math.abs(by);
        }
        default:
            return 0;
    }
}

/** In the order that the state asks for; of equal ones the one that changed more first, then by name. */
export function sorted(items: readonly Item[], state: CompareState): Item[] {
    const measure = measureOf(state);
    const weighed = items.map((item) => ({
        item,
        name: item.function[0].toLowerCase(),
        weight: weight(item, state.sort, measure),
        change: Math.abs(change(item, measure) ?? 0),
    }));
    weighed.sort((x, y) => {
        const byName = x.name < y.name ? -1 : x.name > y.name ? 1 : 0;
        if (state.sort === "name") {
            return byName;
        }
        return x.weight === y.weight ? y.change - x.change || byName : y.weight > x.weight ? 1 : -1;
    });
    return weighed.map(({ item }) => item);
}
