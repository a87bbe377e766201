// drop.ts - traces from this computer: files that are dropped on the page, or chosen. The engine in the page reads them.
import { h, printable } from "../base/dom";
import { EngineError } from "../engine/engine";
import { LocalEngine } from "../engine/local";

const MAGIC = [0x89, 0x4e, 0x53, 0x54, 0x0d, 0x0a, 0x1a, 0x0a];
const MOST = 2;

async function checkFile(file: File): Promise<void> {
    const name = printable(file.name);
    let head: Uint8Array;
    try {
        head = new Uint8Array(await file.slice(0, MAGIC.length).arrayBuffer());
    } catch {
        throw new EngineError(0, `${name} cannot be read.`);
    }
    if (MAGIC.some((byte, i) => head[i] !== byte)) {
        throw new EngineError(
            0,
            `${name} is no .nst file. If another tool wrote it: nanoscope import makes one of it, nanoscope open shows it.`,
        );
    }
}

/** An engine about one file, or two to compare. Rejects with why not, in one line. @code: gets the engine's module. */
export async function openFiles(
    files: readonly File[],
    code: () => Promise<WebAssembly.Module>,
): Promise<LocalEngine> {
    if (files.length > MOST) {
        throw new EngineError(0, "One file can be opened, or two to compare.");
    }
    for (const file of files) {
        await checkFile(file);
    }
    const traces = files.map((file) => ({ name: file.name, data: file }));
    try {
        return await LocalEngine.open(await code(), traces);
    } catch (error) {
        const names = files.map((file) => printable(file.name)).join(", ");
        throw new EngineError(0, `${names}: ${error instanceof Error ? error.message : error}`);
    }
}

/** Takes files that are dropped anywhere on the page. @open: what to do with them. */
export function acceptDrops(open: (files: readonly File[]) => void): void {
    const sign = h(
        "div",
        { class: "drop", hidden: true },
        h("p", {}, "Drop a .nst file to open it, or two to compare them"),
    );
    const hasFiles = (event: DragEvent): boolean =>
        event.dataTransfer?.types.includes("Files") === true;
    const show = (event: DragEvent): void => {
        if (hasFiles(event)) {
            event.preventDefault();
            document.body.append(sign);
            sign.hidden = false;
        }
    };
    document.addEventListener("dragenter", show);
    document.addEventListener("dragover", show);
    document.addEventListener("dragleave", (event) => {
        if (event.relatedTarget === null) {
            sign.hidden = true;
        }
    });
    document.addEventListener("drop", (event) => {
        sign.hidden = true;
        if (hasFiles(event)) {
            event.preventDefault();
            open([...event.dataTransfer!.files]);
        }
    });
}

/** The button that lets one choose them. */
export function makeOpener(open: (files: readonly File[]) => void): HTMLElement {
    const input = h("input", {
        type: "file",
        accept: ".nst",
        multiple: true,
        hidden: true,
        "aria-label": "Trace files",
        on: {
            change: () => {
                open([...(input.files ?? [])]);
                input.value = "";
            },
        },
    });
    const title =
        "Open a .nst file of this computer, or two to compare; dropping them on the page does the same";
    return h(
        "span",
        {},
        h("button", { type: "button", title, on: { click: () => input.click() } }, "Open file"),
        input,
    );
}
