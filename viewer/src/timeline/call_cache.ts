// call_cache.ts - calls that the engine was asked for, so that a window that is shown again does not ask again.
import type { State } from "../data/state";
import type { SeenSpan } from "./hit_map";
import type { Call } from "../engine/protocol";

const KEPT = 4000;
/** So many at once: what is painted must not wait for them. */
const AT_ONCE = 2;

export class CallCache {
    /** By thread and depth. */
    private readonly calls = new Map<string, Call[]>();
    private count = 0;
    private abort: AbortController | null = null;

    constructor(private readonly app: State) {
        // What was open at the end of a growing trace goes on.
        app.on("trace", () => this.forget());
        app.life.addEventListener("abort", () => this.stop());
    }

    private forget(): void {
        this.stop();
        this.calls.clear();
        this.count = 0;
    }

    /** The call that a span shows; null: not known. */
    find(span: SeenSpan): Call | null {
        const middle = (span.from + span.to) / 2;
        const calls = this.calls.get(`${span.thread}.${span.depth}`) ?? [];
        return calls.find((call) => call.start <= middle && middle < call.end + 1) ?? null;
    }

    stop(): void {
        this.abort?.abort();
        this.abort = null;
    }

    /** Asks for the calls that spans show, one after the other until stop(). Those that it is not told stay as they were. */
    ask(spans: readonly SeenSpan[], told: (span: SeenSpan, call: Call) => void): void {
        this.stop();
        if (spans.length === 0 || this.app.life.aborted) {
            return;
        }
        const { signal } = (this.abort = new AbortController());
        const waiting = spans.values();
        const work = async (): Promise<void> => {
            for (const span of waiting) {
                const call = this.find(span) ?? (await this.one(span, signal));
                if (signal.aborted) {
                    return;
                }
                if (call !== null) {
                    told(span, call);
                }
            }
        };
        for (let i = 0; i < AT_ONCE; i++) {
            void work();
        }
    }

    private async one(span: SeenSpan, signal: AbortSignal): Promise<Call | null> {
        const { thread, depth } = span;
        const at = Math.floor((span.from + span.to) / 2);
        try {
            const call = await this.app.ask<Call>("call", { thread, at, depth }, signal);
            this.keep(call);
            return call;
        } catch {
            // The picture's answer stays; a click tells what is wrong.
            return null;
        }
    }

    private keep(call: Call): void {
        if (this.count >= KEPT) {
            this.calls.clear();
            this.count = 0;
        }
        const key = `${call.thread}.${call.depth}`;
        const { stack: _, ...kept } = call;
        const calls = this.calls.get(key);
        if (calls === undefined) {
            this.calls.set(key, [kept]);
        } else {
            calls.push(kept);
        }
        this.count++;
    }
}
