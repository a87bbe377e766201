// layout.ts - which tracks there are, in which order, and where each lies. Pure; heights in CSS pixels.
import type { Trace } from "../engine/protocol";

export const ROW = 18;
export const HEADER = 22;
export const CHART = 28;
const PROCESS = 24;
const LEFT_OUT = 18;
const SPACE = 6;

/** Rows that an unfolded thread shows at first. */
export const ROWS_AT_FIRST = 40;
/** Threads that are unfolded at first. */
const UNFOLDED_AT_FIRST = 24;
/** Threads whose charts are shown at first. */
const CHARTS_AT_FIRST = 4;

export type Fold = "folded" | "some" | "all";

/** Which charts of its samples a thread shows. */
export type Charts = "none" | "first" | "all";

interface Place {
    y: number;
    height: number;
}

export interface ProcessLane extends Place {
    kind: "process" | "left-out";
    process: number;
}

export interface ThreadLane extends Place {
    kind: "thread";
    thread: number;
    fold: Fold;
    /** Rows of calls that are not shown. */
    hidden: number;
}

export interface CallsLane extends Place {
    kind: "calls";
    thread: number;
    rows: number;
}

export interface ChartLane extends Place {
    kind: "samples" | "counter";
    process: number;
    thread: number | null;
    name: string;
}

export type Lane = ProcessLane | ThreadLane | CallsLane | ChartLane;

/** The charts of a thread's samples. */
export const SAMPLE_CHARTS = ["CPU", "faults", "switches", "memory"] as const;

export class Layout {
    lanes: Lane[] = [];
    height = 0;
    /** Threads in the order in which they are shown. */
    readonly order: number[];
    private readonly folds: Fold[] = [];
    /** Of threads that have samples. */
    private readonly charts = new Map<number, Charts>();
    private readonly laneOfThread: number[] = [];

    constructor(private readonly trace: Trace) {
        this.order = orderThreads(trace);
        this.admit();
        this.build();
    }

    /** The trace has grown, and may have threads more: they come behind the others of their process. */
    grow(): void {
        const { threads } = this.trace;
        const places = new Map(this.order.map((thread, i) => [thread, i]));
        const place = (thread: number): number => places.get(thread) ?? places.size;
        const order = orderThreads(this.trace).sort(
            (a, b) => threads[a]!.process - threads[b]!.process || place(a) - place(b),
        );
        this.order.splice(0, this.order.length, ...order);
        this.admit();
        this.build();
    }

    /** What is shown of threads that nobody has folded yet. */
    private admit(): void {
        let known = this.folds.length;
        for (const thread of this.order.filter((each) => this.folds[each] === undefined)) {
            this.folds[thread] = known++ < UNFOLDED_AT_FIRST ? "some" : "folded";
        }
        for (const thread of this.order) {
            if (this.trace.threads[thread]!.samples > 0 && !this.charts.has(thread)) {
                this.charts.set(thread, this.charts.size < CHARTS_AT_FIRST ? "first" : "none");
            }
        }
    }

    build(): void {
        const { trace } = this;
        this.lanes = [];
        this.height = SPACE;
        let process = -1;
        for (const index of this.order) {
            const thread = trace.threads[index]!;
            if (thread.process !== process) {
                process = thread.process;
                this.addProcess(process);
            }
            this.addThread(index);
        }
        this.height += SPACE;
    }

    private add(lane: Lane): void {
        lane.y = this.height;
        this.height += lane.height;
        this.lanes.push(lane);
    }

    private addProcess(process: number): void {
        if (this.trace.processes.length > 1) {
            this.add({ kind: "process", process, y: 0, height: PROCESS });
        }
        if (this.trace.left_out.functions > 0) {
            this.add({ kind: "left-out", process, y: 0, height: LEFT_OUT });
        }
        for (const counter of this.trace.counters) {
            if (counter.process === process && counter.thread === undefined) {
                this.add({
                    kind: "counter",
                    process,
                    thread: null,
                    name: counter.name,
                    y: 0,
                    height: CHART,
                });
            }
        }
    }

    private addThread(index: number): void {
        const thread = this.trace.threads[index]!;
        const fold = this.folds[index]!;
        const rows = this.rowsOf(index);
        this.laneOfThread[index] = this.lanes.length;
        this.add({
            kind: "thread",
            thread: index,
            fold,
            hidden: thread.max_depth - rows,
            y: 0,
            height: HEADER,
        });
        if (fold !== "folded") {
            for (const name of this.chartsOf(index)) {
                const process = thread.process;
                this.add({ kind: "samples", process, thread: index, name, y: 0, height: CHART });
            }
        }
        for (const { name } of fold === "folded" ? [] : this.countersOf(index)) {
            this.add({
                kind: "counter",
                process: thread.process,
                thread: index,
                name,
                y: 0,
                height: CHART,
            });
        }
        if (rows > 0) {
            this.add({ kind: "calls", thread: index, rows, y: 0, height: rows * ROW });
        }
        if (fold !== "folded") {
            this.height += SPACE;
        }
    }

    private countersOf(index: number): Trace["counters"] {
        const has = this.trace.threads[index]!.counters > 0;
        return has ? this.trace.counters.filter((counter) => counter.thread === index) : [];
    }

    private chartsOf(index: number): readonly string[] {
        const charts = this.charts.get(index) ?? "none";
        return charts === "all"
            ? SAMPLE_CHARTS
            : charts === "first"
              ? SAMPLE_CHARTS.slice(0, 1)
              : [];
    }

    private rowsOf(index: number): number {
        const depth = this.trace.threads[index]!.max_depth;
        const fold = this.folds[index]!;
        return fold === "folded" ? 0 : fold === "some" ? Math.min(depth, ROWS_AT_FIRST) : depth;
    }

    fold(thread: number): Fold {
        return this.folds[thread] ?? "folded";
    }

    setFold(thread: number, fold: Fold): void {
        this.folds[thread] = fold;
        this.build();
    }

    setAll(fold: Fold): void {
        this.folds.fill(fold);
        this.build();
    }

    /** No charts, the first, all of them, and again. */
    nextCharts(thread: number): void {
        const now = this.charts.get(thread);
        if (now !== undefined) {
            this.charts.set(thread, now === "none" ? "first" : now === "first" ? "all" : "none");
            this.build();
        }
    }

    /** Number of the last lane that begins at or above @y; -1 above all of them. */
    at(y: number): number {
        let low = 0;
        let high = this.lanes.length;
        while (low < high) {
            const middle = (low + high) >>> 1;
            if (this.lanes[middle]!.y <= y) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }

    threadLane(thread: number): ThreadLane {
        return this.lanes[this.laneOfThread[thread]!] as ThreadLane;
    }

    callsLane(thread: number): CallsLane | null {
        for (let i = this.laneOfThread[thread]! + 1; i < this.lanes.length; i++) {
            const lane = this.lanes[i]!;
            if (lane.kind === "calls") {
                return lane;
            }
            if (lane.kind !== "samples" && lane.kind !== "counter") {
                break;
            }
        }
        return null;
    }

    /** Unfolds as far as needed for @depth to be shown; false if nothing had to change. */
    unfold(thread: number, depth: number): boolean {
        if (depth < this.rowsOf(thread)) {
            return false;
        }
        this.setFold(thread, depth < ROWS_AT_FIRST ? "some" : "all");
        return true;
    }
}

/** By process; within one the main thread first, then those with most calls; a thread's further stacks behind it. */
export function orderThreads(trace: Trace): number[] {
    const calls = new Map<string, number>();
    const key = (i: number): string => `${trace.threads[i]!.process}/${trace.threads[i]!.tid}`;
    trace.threads.forEach((thread, i) =>
        calls.set(key(i), (calls.get(key(i)) ?? 0) + thread.calls),
    );
    const isMain = (i: number): boolean => {
        const thread = trace.threads[i]!;
        return trace.processes[thread.process]?.pid === thread.tid;
    };
    return trace.threads
        .map((_, i) => i)
        .sort((a, b) => {
            const [s, t] = [trace.threads[a]!, trace.threads[b]!];
            return (
                s.process - t.process ||
                Number(isMain(b)) - Number(isMain(a)) ||
                calls.get(key(b))! - calls.get(key(a))! ||
                s.tid - t.tid ||
                s.stack - t.stack ||
                a - b
            );
        });
}
