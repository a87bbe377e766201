// engine.ts - how the client asks: a path with a query goes in, bytes or JSON come out. The transport
// behind `Engine` is HTTP here; local.ts has another one, for pages that need no server.
import type { Selection } from "./protocol";

export interface Answer {
    status: number;
    bytes: ArrayBuffer;
}

export interface Engine {
    /** It is in the page, so there are no sources and no SQL. */
    readonly isLocal?: boolean;
    /** It is not asked any more. */
    close?(): void;
    /** @path begins with /api/. Rejects with AbortError if @signal fires, with EngineError if nothing answers. */
    ask(path: string, signal?: AbortSignal): Promise<Answer>;
}

/** What went wrong, in one line for the person who looks at the page. */
export class EngineError extends Error {
    constructor(
        readonly status: number,
        message: string,
    ) {
        super(message);
    }
}

export type Query = Record<
    string,
    string | number | boolean | readonly string[] | null | undefined
>;

/** The path of a request; members that are null or absent are left out, lists are repeated. */
export function path(name: string, query: Query = {}): string {
    const text = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
        if (value === null || value === undefined) {
            continue;
        }
        for (const one of typeof value === "object" ? value : [value]) {
            text.append(key, typeof one === "boolean" ? (one ? "1" : "0") : String(one));
        }
    }
    const query_text = text.toString().replaceAll("%2C", ",");
    return query_text === "" ? `/api/${name}` : `/api/${name}?${query_text}`;
}

/** The parameters of a selection; times are widened to whole nanoseconds. */
export function selectionQuery(selection: Selection): Query {
    return {
        from: selection.range === null ? null : Math.max(0, Math.floor(selection.range.from)),
        to: selection.range === null ? null : Math.max(0, Math.ceil(selection.range.to)),
        threads: selection.threads === null ? null : selection.threads.join(","),
    };
}

function refusal(answer: Answer): EngineError {
    let text = `The engine answers ${answer.status}.`;
    try {
        const body = JSON.parse(new TextDecoder().decode(answer.bytes)) as { error?: unknown };
        if (typeof body.error === "string") {
            text = body.error;
        }
    } catch {
        // The status says enough.
    }
    return new EngineError(answer.status, text);
}

export async function askBytes(
    engine: Engine,
    where: string,
    signal?: AbortSignal,
): Promise<ArrayBuffer> {
    const answer = await engine.ask(where, signal);
    if (answer.status !== 200) {
        throw refusal(answer);
    }
    return answer.bytes;
}

export async function askJson<T>(engine: Engine, where: string, signal?: AbortSignal): Promise<T> {
    const bytes = await askBytes(engine, where, signal);
    try {
        return JSON.parse(new TextDecoder().decode(bytes)) as T;
    } catch {
        throw new EngineError(200, "The engine's answer cannot be read.");
    }
}

export function isAbort(error: unknown): boolean {
    return error instanceof DOMException && error.name === "AbortError";
}

/** The engine in the process of `nanoscope open`. */
export class HttpEngine implements Engine {
    async ask(where: string, signal?: AbortSignal): Promise<Answer> {
        let response: Response;
        try {
            response = await fetch(where.slice(1), signal === undefined ? {} : { signal });
        } catch (error) {
            if (isAbort(error)) {
                throw error;
            }
            throw new EngineError(0, "The server does not answer; start nanoscope open again.");
        }
        if (response.status === 403) {
            throw new EngineError(
                403,
                "The server does not know this page any more: open the trace again.",
            );
        }
        return { status: response.status, bytes: await response.arrayBuffer() };
    }
}

/** One of the traces that an engine has open: asks everything about that one. */
export class TraceEngine implements Engine {
    constructor(
        private readonly engine: Engine,
        private readonly trace: number,
    ) {}

    get isLocal(): boolean {
        return this.engine.isLocal === true;
    }

    ask(where: string, signal?: AbortSignal): Promise<Answer> {
        const joint = where.includes("?") ? "&" : "?";
        return this.engine.ask(`${where}${joint}trace=${this.trace}`, signal);
    }
}
