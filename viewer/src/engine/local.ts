// local.ts - the engine in the page itself: the same as the server's, as WebAssembly in workers. For traces that the page
// holds, and for files that the browser may read.
import { EngineError, type Answer, type Engine } from "./engine";
import type { Opening, Told, TraceData } from "./worker";
import workerText from "worker-text";

/** What may read the whole trace is answered apart, so that pictures do not wait for it. As src/host/viewer/server/workers.c has them. */
export const SLOW: ReadonlySet<string> = new Set(
    ["report", "tree", "sandwich", "histogram", "shares", "step", "diff", "left-out"].map(
        (name) => `/api/${name}`,
    ),
);
/** A request that nobody wants any more is given so long to end before its worker is thrown away. */
const PATIENCE_MS = 400;

interface Task {
    path: string;
    signal: AbortSignal | undefined;
    /** Fires when it has its answer: the signal above may outlive it by far. */
    ended: AbortSignal;
    resolve(answer: Answer): void;
    reject(error: unknown): void;
}

interface TrustedUrls {
    createScriptURL(url: string): string;
}

interface PolicyMaker {
    createPolicy(name: string, rules: TrustedUrls): TrustedUrls;
}

let makeUrl: ((url: string) => string) | null = null;

/** The address of the worker's text. Where the page's policy wants it, the browser is told that it is ours. */
function workerUrl(): string {
    const { trustedTypes } = globalThis as { trustedTypes?: PolicyMaker };
    if (makeUrl === null) {
        const policy = trustedTypes?.createPolicy("nanoscope", { createScriptURL: (url) => url });
        makeUrl = (url) => policy?.createScriptURL(url) ?? url;
    }
    const url = URL.createObjectURL(new Blob([workerText], { type: "text/javascript" }));
    return makeUrl(url);
}

/** A worker, and what is waiting for it; it has one request at a time. */
class Lane {
    private worker: Worker | null = null;
    private isReady = false;
    private running: Task | null = null;
    private readonly waiting: Task[] = [];
    private patience = 0;
    private broken: EngineError | null = null;
    private isClosed = false;

    constructor(private readonly opening: Opening) {}

    /** @first: resolves when the traces are open, or rejects with why they cannot be. */
    start(first?: { resolve(): void; reject(error: unknown): void }): void {
        const worker = new Worker(workerUrl());
        this.worker = worker;
        this.isReady = false;
        worker.onmessage = ({ data }: MessageEvent<Told>) => {
            if (worker !== this.worker) {
                return;
            }
            if (data.kind === "open") {
                this.isReady = true;
                first?.resolve();
                this.next();
            } else if (data.kind === "answer") {
                this.end(data);
            } else if (this.isReady) {
                this.renew(new EngineError(500, data.message));
            } else {
                this.fail(new EngineError(500, data.message), first?.reject);
            }
        };
        worker.onerror = (event) => {
            event.preventDefault();
            this.fail(
                new EngineError(500, event.message || "The engine has ended."),
                first?.reject,
            );
        };
        worker.postMessage(this.opening);
    }

    /** What a closed lane is asked has no answer: an error would be shown, and what is dropped asked for again. */
    add(task: Task): void {
        if (this.isClosed) {
            return;
        }
        if (this.broken !== null) {
            task.reject(this.broken);
            return;
        }
        if (task.signal?.aborted === true) {
            task.reject(abortError());
            return;
        }
        task.signal?.addEventListener("abort", () => this.drop(task), { signal: task.ended });
        this.waiting.push(task);
        if (this.worker === null) {
            this.start();
        } else {
            this.next();
        }
    }

    close(): void {
        this.isClosed = true;
        this.stop();
    }

    private stop(): void {
        window.clearTimeout(this.patience);
        this.worker?.terminate();
        this.worker = null;
        this.isReady = false;
    }

    private next(): void {
        if (this.isReady && this.running === null && this.waiting.length > 0) {
            this.running = this.waiting.shift()!;
            this.worker!.postMessage(this.running.path);
        }
    }

    private end({ status, bytes }: Extract<Told, { kind: "answer" }>): void {
        window.clearTimeout(this.patience);
        const task = this.running;
        this.running = null;
        task?.resolve({ status, bytes });
        this.next();
    }

    /** A module that has not come to its end may have anything in its memory: the next request gets a new one. */
    private renew(error: unknown): void {
        this.stop();
        const task = this.running;
        this.running = null;
        task?.reject(error);
        if (this.waiting.length > 0) {
            this.start();
        }
    }

    private drop(task: Task): void {
        task.reject(abortError());
        const at = this.waiting.indexOf(task);
        if (at >= 0) {
            this.waiting.splice(at, 1);
        } else if (task === this.running && !this.isClosed) {
            window.clearTimeout(this.patience);
            this.patience = window.setTimeout(() => {
                this.stop();
                this.running = null;
                this.start();
            }, PATIENCE_MS);
        }
    }

    /** For good: whatever is asked is answered with that. */
    private fail(error: EngineError, first?: (error: unknown) => void): void {
        this.broken = error;
        this.stop();
        first?.(error);
        this.running?.reject(error);
        this.running = null;
        for (const task of this.waiting.splice(0)) {
            task.reject(error);
        }
    }
}

function abortError(): DOMException {
    return new DOMException("It is not wanted any more.", "AbortError");
}

export class LocalEngine implements Engine {
    readonly isLocal = true;

    private constructor(
        private readonly quick: Lane,
        private readonly slow: Lane,
    ) {}

    /** Opens one trace, or two to compare. Rejects with why one cannot be read, in one line. */
    static async open(
        code: WebAssembly.Module,
        traces: readonly TraceData[],
        rules: Opening["rules"] = null,
    ): Promise<LocalEngine> {
        const opening = { code, traces, rules };
        const quick = new Lane(opening);
        await new Promise<void>((resolve, reject) => quick.start({ resolve, reject })).catch(
            (error: unknown) => {
                quick.close();
                throw error;
            },
        );
        return new LocalEngine(quick, new Lane(opening));
    }

    async ask(path: string, signal?: AbortSignal): Promise<Answer> {
        const lane = SLOW.has(path.split("?", 1)[0]!) ? this.slow : this.quick;
        const ending = new AbortController();
        const ended = ending.signal;
        try {
            return await new Promise<Answer>((resolve, reject) =>
                lane.add({ path, signal, ended, resolve, reject }),
            );
        } finally {
            ending.abort();
        }
    }

    close(): void {
        this.quick.close();
        this.slow.close();
    }
}
