// main.ts - where the page starts: asks for the trace, then makes the page.
import { parseAddress } from "./data/address";
import { State } from "./data/state";
import { h } from "./base/dom";
import { acceptDrops, makeOpener, openFiles } from "./page/drop";
import {
    askJson,
    EngineError,
    HttpEngine,
    isAbort,
    TraceEngine,
    type Engine,
} from "./engine/engine";
import { takeEmbedded } from "./engine/embedded";
import { LocalEngine } from "./engine/local";
import { login, stay } from "./engine/login";
import { Page } from "./page/page";
import type { Trace } from "./engine/protocol";
import { keep, OpenOrder } from "./page/open_order";

const SAY_MS = 6000;

/** The trace, and the one it is compared with. */
type Traces = readonly [Trace, Trace | null];

async function askTraces(engine: Engine): Promise<Traces> {
    const first = await askJson<Trace>(engine, "/api/trace");
    const other = new TraceEngine(engine, 1);
    return [first, first.traces > 1 ? await askJson<Trace>(other, "/api/trace") : null];
}

/** One line at the foot of the page: errors stay, hints go. */
class Status {
    readonly element = h("p", { class: "status", role: "status", hidden: true });
    private timer = 0;

    say(text: string): void {
        window.clearTimeout(this.timer);
        this.element.textContent = text;
        this.element.hidden = text === "";
        this.element.classList.remove("error");
        this.timer = window.setTimeout(() => this.say(""), SAY_MS);
    }

    readonly fail = (error: unknown): void => {
        if (!isAbort(error)) {
            this.say(error instanceof Error ? error.message : String(error));
            window.clearTimeout(this.timer);
            this.element.classList.add("error");
        }
    };
}

/** What shows traces: at first those that the page is about, then those that are dropped on it. */
class Viewer {
    private readonly status = new Status();
    private app: State | null = null;
    private engine: Engine | null = null;
    private readonly turns = new OpenOrder();
    /** The engine's module, once it is needed. */
    private code = keep(fetchCode);

    async begin(): Promise<void> {
        document.body.append(this.status.element);
        acceptDrops((files) => void this.take(files));
        try {
            await this.open(() => this.find());
        } catch (error) {
            this.status.fail(error);
        }
    }

    /** The engine of the page that has its traces in itself, or of the server that it came from. */
    private async find(): Promise<Engine> {
        const embedded = takeEmbedded();
        if (embedded === null) {
            await login();
            stay();
            return new HttpEngine();
        }
        const { code } = embedded;
        this.code = () => code;
        return await LocalEngine.open(await code, embedded.traces, embedded.rules);
    }

    /** @begin: runs just before it is shown. */
    private open(find: () => Promise<Engine>, begin?: () => void): Promise<void> {
        return this.turns.take({
            open: find,
            ask: askTraces,
            show: (engine, traces) => {
                begin?.();
                this.show(engine, traces);
            },
            close: (engine) => {
                if (engine !== this.engine) {
                    engine.close?.();
                }
            },
        });
    }

    private show(engine: Engine, [first, second]: Traces): void {
        const { status } = this;
        const address = parseAddress(location.hash);
        const engines = [0, 1].map((number) => new TraceEngine(engine, number));
        const which = second !== null && address.trace === 1 ? 1 : 0;
        const [trace, other] = which === 1 ? [second!, first] : [first, second];
        const one = second !== null ? engines[which]! : engine;
        const app = new State(one, trace, which, other, status.fail, (text) => status.say(text));
        const opener = makeOpener((files) => void this.take(files));
        const page = new Page(app, status.element, opener);
        this.app?.end();
        if (this.engine !== engine) {
            this.engine?.close?.();
        }
        this.app = app;
        this.engine = engine;
        if (engine.isLocal === true) {
            app.reload = () => void this.open(async () => engine).catch(status.fail);
        }
        document.body.replaceChildren(page.element);
        document.title = `${trace.name} - nanoscope`;
        page.begin(address);
        // For tests and measurements.
        Object.assign(globalThis, { nanoscope: page });
    }

    /** Files that were dropped or chosen. What is shown stays if they cannot be opened. */
    private async take(files: readonly File[]): Promise<void> {
        if (files.length === 0) {
            return;
        }
        try {
            await this.open(
                () => openFiles(files, () => this.code()),
                () => {
                    history.replaceState(null, "", location.pathname + location.search);
                    this.status.say("");
                },
            );
        } catch (error) {
            this.status.fail(error);
        }
    }
}

/** The engine's module, from the server that the page came from. */
async function fetchCode(): Promise<WebAssembly.Module> {
    const answer = await fetch("engine.wasm").catch(() => null);
    if (answer === null || !answer.ok) {
        const why =
            answer === null ? "the server has ended" : "this nanoscope was built without it";
        throw new EngineError(0, `the engine that reads files in the page is not there: ${why}`);
    }
    return await WebAssembly.compile(await answer.arrayBuffer());
}

void new Viewer().begin();
