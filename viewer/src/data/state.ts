// state.ts - what the page shows: the window, the selection, the call, the search. Parts of the page read it and are told by
// topic when it changes; nobody else keeps such state.
import { COMPARE, type CompareState } from "./compare";
import { askJson, EngineError, isAbort, path, selectionQuery, type Engine } from "../engine/engine";
import { Functions } from "./functions";
import type { Call, Range, Selection, Trace } from "../engine/protocol";
import type { ThemeName } from "../base/palette";
import * as view from "./view";

export type Topic =
    | "view" // the window moved
    | "selection" // another range or other threads
    | "call" // another call is looked at
    | "function" // panels are about another function
    | "search" // another set of functions is highlighted
    | "theme"
    | "functions" // names arrived, or colours changed
    | "tracks" // tracks were folded or unfolded
    | "trace" // a growing trace has grown
    | "panel" // another panel is shown
    | "compare" // two traces are compared in another way
    | "frames"; // frame marks were switched

export type ThemeChoice = "auto" | ThemeName;

/** 60 pictures a second. */
export const FRAME_NS = 1e9 / 60;

const SMOOTH_MS = 70;

/** The functions that a search found. */
export interface Found {
    text: string;
    /** By function id; 1: found. */
    flags: Uint8Array;
    rows: { function: number; calls: number | null }[];
    more: number;
}

export interface Jump {
    function: number;
    thread?: number | null;
    at?: number;
    go: "next" | "previous" | "longest";
    nth?: number;
}

export class State {
    readonly functions: Functions;
    view: Range;
    range: Range | null = null;
    /** The threads that analyses are about; null: all. */
    threads: readonly number[] | null = null;
    call: Call | null = null;
    /** The function that panels are about: that of the last call, unless another was chosen since. */
    function: number | null = null;
    found: Found | null = null;
    theme: ThemeName = "light";
    themeChoice: ThemeChoice = "auto";
    frames = false;
    panel: string;
    compare: CompareState = { ...COMPARE };
    /** What was selected of the other trace while that one was shown. */
    otherRange: Range | null = null;

    /** What shows another of the traces that are open, by the address that was set. */
    reload: () => void = () => location.reload();

    private readonly ending = new AbortController();
    private readonly listeners = new Map<Topic, Set<() => void>>();
    private target: Range | null = null;
    private lastStep = 0;
    private calling: AbortController | null = null;

    constructor(
        readonly engine: Engine,
        public trace: Trace,
        /** Which of the traces that are open it is. */
        readonly which: 0 | 1,
        /** The one that is not shown; null: one only is open. */
        readonly other: Trace | null,
        readonly fail: (error: unknown) => void,
        readonly say: (text: string) => void,
    ) {
        this.view = this.whole;
        this.panel = this.firstPanel;
        this.functions = new Functions(engine, trace, () => this.emit("functions"), fail);
    }

    /** What is shown where nobody has chosen. */
    get firstPanel(): string {
        return this.other === null ? "top" : "compare";
    }

    /** Fires when another trace takes this one's place. */
    get life(): AbortSignal {
        return this.ending.signal;
    }

    end(): void {
        this.ending.abort();
    }

    on(topics: readonly Topic[] | Topic, listener: () => void): void {
        for (const topic of typeof topics === "string" ? [topics] : topics) {
            const set = this.listeners.get(topic) ?? new Set();
            set.add(listener);
            this.listeners.set(topic, set);
        }
    }

    emit(topic: Topic): void {
        for (const listener of this.listeners.get(topic) ?? []) {
            listener();
        }
    }

    ask<T>(name: string, query: Parameters<typeof path>[1], signal?: AbortSignal): Promise<T> {
        return askJson<T>(this.engine, path(name, query), signal);
    }

    get whole(): Range {
        const from = Math.min(this.trace.start, this.trace.end);
        return { from, to: Math.max(this.trace.end, from + 1) };
    }

    get selection(): Selection {
        return { range: this.range, threads: this.threads };
    }

    get selectionQuery(): ReturnType<typeof selectionQuery> {
        return selectionQuery(this.selection);
    }

    /** The window that is shown, or the one that a smooth move ends in. */
    get goal(): Range {
        return this.target ?? this.view;
    }

    show(range: Range, smooth = false): void {
        const next = view.clamp(range, this.whole);
        if (smooth && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
            if (this.target === null) {
                this.lastStep = performance.now();
                requestAnimationFrame((now) => this.step(now));
            }
            this.target = next;
            return;
        }
        this.target = null;
        if (!view.sameRange(next, this.view)) {
            this.view = next;
            this.emit("view");
        }
    }

    private step(now: number): void {
        if (this.target === null) {
            return;
        }
        const share = 1 - Math.exp(-Math.max(now - this.lastStep, 1) / SMOOTH_MS);
        this.lastStep = now;
        const next = view.between(this.view, this.target, share);
        const left =
            Math.abs(next.from - this.target.from) + Math.abs(next.to - this.target.to) >
            view.duration(this.target) * 2e-3;
        this.view = left ? next : this.target;
        if (left) {
            requestAnimationFrame((later) => this.step(later));
        } else {
            this.target = null;
        }
        this.emit("view");
    }

    zoom(factor: number, anchor = 0.5, smooth = false): void {
        this.show(view.zoom(this.goal, factor, anchor, this.whole), smooth);
    }

    pan(share: number, smooth = false): void {
        this.show(view.pan(this.goal, share, this.whole), smooth);
    }

    /** Of whole nanoseconds, as the engine measures it. */
    select(part: Range | null, threads: readonly number[] | null = this.threads): void {
        const range = part === null ? null : view.wholeNs(part);
        if (view.sameRange(range, this.range) && threads === this.threads) {
            return;
        }
        this.range = range;
        this.threads = threads;
        this.emit("selection");
    }

    setCall(call: Call | null): void {
        this.call = call;
        this.emit("call");
        if (call !== null && call.function !== null) {
            this.setFunction(call.function);
        }
    }

    setFunction(id: number | null): void {
        if (id !== this.function) {
            this.function = id;
            this.emit("function");
        }
    }

    /** Looks up the call at a place and shows it. @otherwise: what is said where there is none. */
    async pickCall(
        thread: number,
        at: number,
        depth: number,
        otherwise = "",
    ): Promise<Call | null> {
        this.calling?.abort();
        const abort = (this.calling = new AbortController());
        try {
            const call = await this.ask<Call>(
                "call",
                { thread, at: Math.floor(at), depth },
                abort.signal,
            );
            this.setCall(call);
            return call;
        } catch (error) {
            if (error instanceof EngineError && error.status === 404) {
                this.say(otherwise);
            } else if (!isAbort(error)) {
                this.fail(error);
            }
            return null;
        }
    }

    /** Goes to another call of a function; says so if there is none. */
    async jump(jump: Jump): Promise<Call | null> {
        const { thread, at, nth, go } = jump;
        try {
            const scope = go === "longest" ? this.selectionQuery : {};
            const found = await this.ask<Call>("step", { ...scope, ...jump, thread, at, nth });
            const call = await this.pickCall(found.thread, found.start, found.depth);
            if (call !== null) {
                this.show(
                    view.reveal(this.goal, { from: call.start, to: call.end }, this.whole),
                    true,
                );
            }
            return call;
        } catch (error) {
            if (error instanceof EngineError && error.status === 404) {
                this.say(`There is no ${go === "longest" ? "such" : go} call of this function.`);
            } else {
                this.fail(error);
            }
            return null;
        }
    }

    setFound(found: Found | null): void {
        this.found = found;
        this.emit("search");
    }

    setPanel(panel: string): void {
        if (panel !== this.panel) {
            this.panel = panel;
            this.emit("panel");
        }
    }

    setCompare(change: Partial<CompareState>): void {
        this.compare = { ...this.compare, ...change };
        this.emit("compare");
    }

    toggleFrames(): void {
        this.frames = !this.frames;
        this.emit("frames");
    }
}
