// protocol.ts - the answers of the engine as types; docs/viewer-protocol.md says what they mean.

export interface Process {
    pid: number;
    name: string;
    start: number;
    end: number | null;
    exit: number | null;
}

export interface Thread {
    process: number;
    tid: number;
    stack: number;
    name: string;
    start: number;
    end: number;
    calls: number;
    lost: number;
    max_depth: number;
    samples: number;
    states: number;
    marks: number;
    counters: number;
}

export interface Trace {
    name: string;
    traces: number;
    engine: string;
    start: number;
    end: number;
    calls: number;
    events: number;
    lost: number;
    complete: boolean;
    growing: boolean;
    exits_bound: boolean;
    warning: string | null;
    /** How many ids there are; some may be of the same function. */
    functions: number;
    distinct: number;
    categories: string[];
    processes: Process[];
    threads: Thread[];
    /** A counter is a process's or a thread's. */
    counters: { process?: number; thread?: number; name: string }[];
    meta: Record<string, string>;
    left_out: { functions: number; all: boolean };
    can: string[];
}

export interface FunctionRow {
    id: number;
    name: string;
    module: string | null;
    file: string | null;
    line: number | null;
    category: number;
}

export interface StackFrame {
    function: number | null;
    start: number;
    end: number;
}

export interface Call {
    thread: number;
    function: number | null;
    depth: number;
    start: number;
    end: number;
    self: number;
    number: number | null;
    start_bound: boolean;
    end_bound: boolean;
    children: number | null;
    /** Callers, outermost first; `more` are further out. */
    stack?: StackFrame[];
    more?: number;
}

export interface ReportRow {
    function: number | null;
    calls: number;
    total: number;
    self: number;
    min: number | null;
    p50: number | null;
    p90: number | null;
    p99: number | null;
    max: number | null;
    bounds: number;
    left_out: string | null;
    more_calls?: [number, number] | null;
}

export interface Report {
    calls: number;
    bounds: number;
    lost: number;
    functions: number;
    /** Quantiles come from the index: within 6.3 %. */
    rough: boolean;
    more: number;
    rows: ReportRow[];
}

/** function, depth, calls, total, self. */
export type TreeNode = [number | null, number, number, number, number];

export interface Tree {
    total: number;
    folded: number;
    folded_calls?: number;
    nodes: TreeNode[];
}

/** function, calls, time. */
export type SandwichRow = [number | null, number, number];

export interface Sandwich {
    calls: number;
    total: number;
    self: number;
    callers: SandwichRow[];
    callees: SandwichRow[];
    more_callers?: number;
    more_callees?: number;
}

export interface Histogram {
    calls: number;
    min: number | null;
    p50: number | null;
    p90: number | null;
    p99: number | null;
    max: number | null;
    /** from, to, calls. */
    buckets: [number, number, number][];
    longest: Call[];
}

export interface Shares {
    total: number;
    rows: { category: number; calls: number; self: number }[];
}

/** Name, place (where others have the name, too), the id in the first trace and in the second. */
export type DiffFunction = [string, string | null, number | null, number | null];

/** Calls, total, self, each of the first trace and of the second. */
export type DiffSums = [number, number, number, number, number, number];

export interface Diff {
    sides: { name: string; calls: number; self: number; bounds: number; folded_calls: number }[];
    /** The number of the function, and its sums. */
    rows: [number, ...DiffSums][];
    more: number;
    /** The number of the function, the depth, and the sums. */
    nodes: [number, number, ...DiffSums][];
    folded: number;
    functions: DiffFunction[];
}

export interface Overview {
    width: number;
    depth: number[];
    lost: number[];
}

export interface States {
    segments: [number, number, number][];
    merged: boolean;
}

export interface Samples {
    columns: string[];
    rows: (number | null)[][];
}

export interface Counters {
    rows: [number, number, number, number][];
}

export interface Mark {
    thread: number;
    time: number;
    name: string;
    text: string;
}

export interface Marks {
    marks: Mark[];
    more: number;
}

/** A value and how far it may be off. */
export type Estimate = [number, number];

export interface LeftOutRow {
    /** null: all functions. */
    function: number | null;
    /** null: all processes. */
    process: number | null;
    reason: string;
    from: number;
    to: number | null;
    calls: Estimate | null;
    total: Estimate | null;
    self: Estimate | null;
}

export interface SearchRow {
    function: number;
    calls: number | null;
}

/** A part of the time of the trace, in ns. */
export interface Range {
    from: number;
    to: number;
}

/** What an analysis is asked about: all that is absent is not limited. */
export interface Selection {
    range: Range | null;
    threads: readonly number[] | null;
}
