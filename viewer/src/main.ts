// main.ts - where the page starts: asks for the trace, then makes the page.
import { parseAddress } from "./address";
import { App } from "./app";
import { h } from "./dom";
import { askJson, HttpEngine, isAbort, TraceEngine, type Engine } from "./engine";
import { login, stay } from "./login";
import { Page } from "./page";
import type { Trace } from "./protocol";

const SAY_MS = 6000;

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

async function start(engine: Engine, status: Status): Promise<void> {
    const address = parseAddress(location.hash);
    const first = await askJson<Trace>(engine, "/api/trace");
    const which = Math.min(address.trace, first.traces - 1);
    const one = first.traces > 1 ? new TraceEngine(engine, which) : engine;
    const trace = which === 0 ? first : await askJson<Trace>(one, "/api/trace");
    const app = new App(one, trace, which, status.fail, (text) => status.say(text));
    const page = new Page(app, status.element);
    document.body.replaceChildren(page.element);
    document.title = `${trace.name} - nanoscope`;
    page.begin(address);
    // For tests and measurements.
    Object.assign(globalThis, { nanoscope: page });
}

const status = new Status();
document.body.append(status.element);
login()
    .then(stay)
    .then(() => start(new HttpEngine(), status))
    .catch(status.fail);
