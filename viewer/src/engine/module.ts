// module.ts - the engine's WebAssembly module (src/host/viewer/wasm/exports.c): opens traces and answers requests about them, at once.
// Used by the worker of the page, and by tests in node.
import { Wasi, type Source } from "./wasi";

export { MemorySource } from "./wasi";

export interface NamedSource {
    name: string;
    source: Source;
}

export interface Reply {
    status: number;
    bytes: Uint8Array<ArrayBuffer>;
}

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    nsc_page_room(bytes: number): number;
    nsc_page_open(fd: number, nameBytes: number): number;
    nsc_page_rules(bytes: number): number;
    nsc_page_begin(): number;
    nsc_page_ask(bytes: number): number;
    nsc_page_answer(): number;
    nsc_page_answer_bytes(): number;
}

export class Module {
    private constructor(private readonly exports: Exports) {}

    /** Opens traces; functions are sorted by rules, too, if there are any. Rejects with an error whose message says in one line why one cannot be read. */
    static async open(
        code: BufferSource | WebAssembly.Module,
        traces: readonly NamedSource[],
        rules: Uint8Array | null = null,
    ): Promise<Module> {
        const wasi = new Wasi();
        const compiled =
            code instanceof WebAssembly.Module ? code : await WebAssembly.compile(code);
        const instance = await WebAssembly.instantiate(compiled, wasi.imports);
        const exports = instance.exports as unknown as Exports;
        const module = new Module(exports);
        wasi.memory = exports.memory;
        exports._initialize();
        for (const { name, source } of traces) {
            module.check(exports.nsc_page_open(wasi.add(source), module.put(name)));
        }
        if (rules !== null) {
            module.check(exports.nsc_page_rules(module.put(rules)));
        }
        module.check(exports.nsc_page_begin());
        return module;
    }

    ask(request: string): Reply {
        const status = this.exports.nsc_page_ask(this.put(request));
        return { status, bytes: this.answer() };
    }

    private put(text: string | Uint8Array): number {
        const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
        const at = this.exports.nsc_page_room(bytes.length);
        if (at === 0) {
            throw new Error("Out of memory.");
        }
        new Uint8Array(this.exports.memory.buffer, at).set(bytes);
        return bytes.length;
    }

    private answer(): Uint8Array<ArrayBuffer> {
        const at = this.exports.nsc_page_answer();
        const bytes = this.exports.nsc_page_answer_bytes();
        return new Uint8Array(
            this.exports.memory.buffer,
            at,
            bytes,
        ).slice() as Uint8Array<ArrayBuffer>;
    }

    private check(error: number): void {
        if (error !== 0) {
            throw new Error(new TextDecoder().decode(this.answer()));
        }
    }
}
