// header.ts - the top line: what the trace is, and what is special about it.
import { showTrace } from "../data/address";
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import type { Trace } from "../engine/protocol";
import * as units from "../base/units";

/** What is special about the trace. */
function makeChips(trace: Trace): HTMLElement[] {
    const chips: HTMLElement[] = [];
    const chip = (text: string, title: string): void => {
        chips.push(h("span", { class: "chip", title }, text));
    };
    if (trace.lost > 0) {
        chip(
            `${units.shortCount(trace.lost)} event${trace.lost === 1 ? "" : "s"} lost`,
            "Hatched where they are missing",
        );
    }
    if (trace.left_out.functions > 0) {
        chip(
            `${units.count(trace.left_out.functions)} left out`,
            "Functions that were not recorded all the time",
        );
    }
    if (!trace.complete && !trace.growing) {
        chip("not complete", "The recording ended before the file was whole");
    }
    if (trace.meta["window"] !== undefined) {
        chip("a part", "What was recorded before and after it is not in this file");
    }
    if (trace.growing) {
        chip("recording", "The trace is still being written");
    }
    if (trace.warning !== null) {
        chip("damaged", printable(trace.warning));
    }
    return chips;
}

export function makeHeader(app: State, ...controls: Node[]): HTMLElement {
    const { trace } = app;
    const size = h("span", { class: "quiet" });
    const chips = h("span", { class: "chips" });
    const tell = (): void => {
        size.textContent = describe(trace);
        chips.replaceChildren(...makeChips(trace));
    };
    tell();
    app.on("trace", tell);
    return h(
        "header",
        {},
        app.other !== null ? traceSwitch(app) : null,
        h("h1", { title: printable(trace.name) }, printable(trace.name)),
        size,
        chips,
        h("span", { class: "spring" }),
        ...controls,
    );
}

/** With two traces open: which one is shown. */
function traceSwitch(app: State): HTMLElement {
    const names = app.which === 0 ? [app.trace, app.other] : [app.other, app.trace];
    const buttons = ["A before", "B after"].map((label, which) =>
        h(
            "button",
            {
                type: "button",
                title: printable(names[which]?.name ?? ""),
                "aria-pressed": which === app.which ? "true" : "false",
                on: { click: () => showTrace(app, which) },
            },
            label,
        ),
    );
    return h("span", { class: "switch", role: "group", "aria-label": "Trace" }, ...buttons);
}

function describe(trace: Trace): string {
    const several = (value: number, noun: string): string =>
        `${units.shortCount(value)} ${noun}${value === 1 ? "" : "s"}`;
    const parts = [several(trace.calls, "call")];
    if (trace.processes.length > 1) {
        parts.push(`${units.count(trace.processes.length)} processes`);
    }
    parts.push(several(trace.threads.length, "thread"), several(trace.distinct, "function"));
    return parts.join(", ");
}
