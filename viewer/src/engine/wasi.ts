// wasi.ts - what the engine's module imports of its system: reading traces by position, and refusals. It has no other way out.

/** The bytes of a trace, read by position. */
export interface Source {
    readonly size: number;
    /** Fills @to from @offset on; returns how much there was. */
    read(offset: number, to: Uint8Array): number;
}

const FIRST_DESCRIPTOR = 3;
const REGULAR_FILE = 4;
const FILESTAT_BYTES = 64;
/** Numbers of WASI. */
const OK = 0;
const BAD_DESCRIPTOR = 8;
const INVALID = 28;
const IO = 29;

export class Wasi {
    /** The module's, once there is one. */
    memory: WebAssembly.Memory | null = null;
    private readonly sources: Source[] = [];

    /** Returns the descriptor by which the module reads it. */
    add(source: Source): number {
        return FIRST_DESCRIPTOR + this.sources.push(source) - 1;
    }

    private view(): DataView {
        return new DataView(this.memory!.buffer);
    }

    private source(descriptor: number): Source | undefined {
        return this.sources[descriptor - FIRST_DESCRIPTOR];
    }

    private stat(descriptor: number, at: number): number {
        const source = this.source(descriptor);
        if (source === undefined) {
            return BAD_DESCRIPTOR;
        }
        new Uint8Array(this.memory!.buffer, at, FILESTAT_BYTES).fill(0);
        const view = this.view();
        view.setUint8(at + 16, REGULAR_FILE);
        view.setBigUint64(at + 24, 1n, true); // links
        view.setBigUint64(at + 32, BigInt(source.size), true);
        return OK;
    }

    private pread(
        descriptor: number,
        parts: number,
        count: number,
        offset: bigint,
        told: number,
    ): number {
        const source = this.source(descriptor);
        if (source === undefined) {
            return BAD_DESCRIPTOR;
        }
        if (offset < 0n || offset > BigInt(Number.MAX_SAFE_INTEGER)) {
            return INVALID;
        }
        const view = this.view();
        let read = 0;
        for (let i = 0; i < count; i++) {
            const at = view.getUint32(parts + 8 * i, true);
            const bytes = view.getUint32(parts + 8 * i + 4, true);
            let n: number;
            try {
                n = source.read(
                    Number(offset) + read,
                    new Uint8Array(this.memory!.buffer, at, bytes),
                );
            } catch {
                return IO; // the file has gone, or has changed since it was chosen
            }
            read += n;
            if (n < bytes) {
                break;
            }
        }
        view.setUint32(told, read, true);
        return OK;
    }

    get imports(): WebAssembly.Imports {
        return {
            wasi_snapshot_preview1: {
                fd_close: () => OK,
                fd_fdstat_get: () => BAD_DESCRIPTOR,
                fd_filestat_get: (descriptor: number, at: number) => this.stat(descriptor, at),
                fd_pread: (
                    descriptor: number,
                    parts: number,
                    count: number,
                    offset: bigint,
                    told: number,
                ) => this.pread(descriptor, parts, count, offset, told),
                fd_seek: () => BAD_DESCRIPTOR,
                fd_write: () => BAD_DESCRIPTOR,
            },
        };
    }
}

/** A trace in memory. */
export class MemorySource implements Source {
    constructor(private readonly bytes: Uint8Array) {}

    get size(): number {
        return this.bytes.length;
    }

    read(offset: number, to: Uint8Array): number {
        const part = this.bytes.subarray(offset, offset + to.length);
        to.set(part);
        return part.length;
    }
}
