// worker.ts - the thread in which a LocalEngine's module works. Bundled into a text of its own, from which the page makes a worker.
import { inflate, type Packed } from "./inflate";
import { Module } from "./module";
import { MemorySource, type Source } from "./wasi";

/** A trace that the page holds, or a file. */
export interface TraceData {
    name: string;
    data: Packed | Blob;
}

/** The first message is how to open the traces, each later one a request. */
export interface Opening {
    code: WebAssembly.Module;
    traces: readonly TraceData[];
    /** For the categories of functions, beside the ready ones. */
    rules: Packed | null;
}

export type Told =
    | { kind: "open" }
    | { kind: "failed"; message: string }
    | { kind: "answer"; status: number; bytes: ArrayBuffer };

/** Only workers have it, so it is not among the types of pages. */
declare class FileReaderSync {
    readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

interface Scope {
    onmessage: ((event: MessageEvent<Opening | string>) => void) | null;
    postMessage(message: Told, transfer?: Transferable[]): void;
}

/** Smaller traces are read whole. */
const WHOLE_BYTES = 128 << 20;
const WINDOW_BYTES = 512 << 10;
const WINDOWS = 32;

/** A large file on a disk: the parts that were read last are kept. */
class BlobSource implements Source {
    private readonly reader = new FileReaderSync();
    /** By number, least recently used first. */
    private readonly windows = new Map<number, Uint8Array>();

    constructor(private readonly blob: Blob) {}

    get size(): number {
        return this.blob.size;
    }

    read(offset: number, to: Uint8Array): number {
        const whole = Math.min(to.length, Math.max(this.blob.size - offset, 0));
        let done = 0;
        while (done < whole) {
            const number = Math.floor((offset + done) / WINDOW_BYTES);
            const window = this.window(number);
            const from = offset + done - number * WINDOW_BYTES;
            const part = window.subarray(from, from + whole - done);
            if (part.length === 0) {
                break;
            }
            to.set(part, done);
            done += part.length;
        }
        return done;
    }

    private window(number: number): Uint8Array {
        const kept = this.windows.get(number);
        const from = number * WINDOW_BYTES;
        const window =
            kept ??
            new Uint8Array(
                this.reader.readAsArrayBuffer(this.blob.slice(from, from + WINDOW_BYTES)),
            );
        this.windows.delete(number);
        this.windows.set(number, window);
        if (this.windows.size > WINDOWS) {
            this.windows.delete(this.windows.keys().next().value!);
        }
        return window;
    }
}

async function sourceOf(data: Packed | Blob): Promise<Source> {
    if (!(data instanceof Blob)) {
        return new MemorySource(await inflate(data));
    }
    return data.size <= WHOLE_BYTES
        ? new MemorySource(new Uint8Array(await data.arrayBuffer()))
        : new BlobSource(data);
}

async function open({ code, traces, rules }: Opening): Promise<Module> {
    const named = [];
    for (const { name, data } of traces) {
        named.push({ name, source: await sourceOf(data) });
    }
    return await Module.open(code, named, rules === null ? null : await inflate(rules));
}

const scope = globalThis as unknown as Scope;
let opened: Module | null = null;

function failed(error: unknown): void {
    scope.postMessage({
        kind: "failed",
        message: error instanceof Error ? error.message : String(error),
    });
}

scope.onmessage = ({ data }) => {
    if (typeof data !== "string") {
        open(data).then((module) => {
            opened = module;
            scope.postMessage({ kind: "open" });
        }, failed);
        return;
    }
    try {
        const { status, bytes } = opened!.ask(data);
        scope.postMessage({ kind: "answer", status, bytes: bytes.buffer }, [bytes.buffer]);
    } catch (error) {
        failed(error);
    }
};
