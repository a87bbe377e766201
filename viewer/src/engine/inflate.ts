// inflate.ts - bytes that were deflated, as they were.

export interface Packed {
    bytes: Uint8Array<ArrayBuffer>;
    /** How many there were. */
    size: number;
}

const DAMAGED = "This page is damaged: export it again.";

/** Rejects if they are not what they should be. */
export async function inflate({ bytes, size }: Packed): Promise<Uint8Array<ArrayBuffer>> {
    const stream = new DecompressionStream("deflate-raw");
    const writer = stream.writable.getWriter();
    const reader = stream.readable.getReader();
    let plain: Uint8Array<ArrayBuffer>;
    let at = 0;
    try {
        plain = new Uint8Array(size);
        const written = writer.write(bytes).then(() => writer.close());
        for (;;) {
            const { done, value } = await reader.read();
            if (done) {
                break;
            }
            plain.set(value, at); // a RangeError if there are more
            at += value.length;
        }
        await written;
    } catch {
        throw new Error(DAMAGED);
    }
    if (at !== size) {
        throw new Error(DAMAGED);
    }
    return plain;
}
