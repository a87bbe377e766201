// embedded.ts - the engine and the traces of a one-file page (`nanoscope export --format html`): elements that hold bytes,
// deflated, in base64. docs/viewer-protocol.md says how.
import { inflate, type Packed } from "./inflate";
import type { TraceData } from "./worker";

const ENGINE = 'script[type="application/x-nanoscope-engine"]';
const RULES = 'script[type="application/x-nanoscope-rules"]';
const TRACES = 'script[type="application/x-nanoscope-trace"]';

/** Newer browsers have it built in. */
interface Base64 {
    fromBase64?(text: string): Uint8Array<ArrayBuffer>;
}

function decode(text: string): Uint8Array<ArrayBuffer> {
    const { fromBase64 } = Uint8Array as unknown as Base64;
    if (fromBase64 !== undefined) {
        return fromBase64.call(Uint8Array, text);
    }
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) {
        bytes[i] = raw.charCodeAt(i);
    }
    return bytes;
}

/** The bytes that an element holds. It is taken away: they are not needed twice. */
function take(element: Element): Packed {
    const bytes = decode(element.textContent ?? "");
    element.remove();
    return { bytes, size: Number(element.getAttribute("data-bytes")) };
}

export interface Embedded {
    code: Promise<WebAssembly.Module>;
    traces: TraceData[];
    /** For the categories of functions. */
    rules: Packed | null;
}

/** Null if the page holds none: it is served, then. */
export function takeEmbedded(): Embedded | null {
    const engine = document.querySelector(ENGINE);
    const rules = document.querySelector(RULES);
    const elements = [...document.querySelectorAll(TRACES)];
    if (engine === null || elements.length === 0) {
        return null;
    }
    const code = inflate(take(engine)).then((bytes) => WebAssembly.compile(bytes));
    const traces = elements.map((element) => ({
        name: element.getAttribute("data-name") ?? "trace",
        data: take(element),
    }));
    return { code, traces, rules: rules === null ? null : take(rules) };
}
