// histogram.ts - how long the calls of a function last in the selection, and its slowest ones.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import { threadTitle } from "../timeline/lanes";
import type { Call, Histogram } from "../engine/protocol";
import { bound } from "../timeline/tooltip";
import * as units from "../base/units";
import * as view from "../data/view";
import type { Panel } from "./host";
import { functionHead, hint, NO_FUNCTION, table, type Cell } from "./parts";

const SLOWEST = 50;
/** CSS pixels: of a bar at most, and of the labels below them at least. */
const BUCKET_WIDTH = 40;
const LEAST_WIDTH = 150;

export class HistogramPanel implements Panel {
    readonly id = "histogram";
    readonly title = "Histogram";
    readonly topics = ["selection", "function", "functions", "theme", "trace"] as const;
    readonly element = h("div");

    constructor(private readonly app: State) {}

    async update(signal: AbortSignal): Promise<void> {
        const { app } = this;
        const id = app.function;
        if (id === null) {
            this.element.replaceChildren(hint(NO_FUNCTION));
            return;
        }
        const query = { ...app.selectionQuery, function: id, limit: SLOWEST };
        const answer = await app.ask<Histogram>("histogram", query, signal);
        const head = functionHead(app, id, units.several(answer.calls, "call"));
        if (answer.calls === 0) {
            this.element.replaceChildren(head, hint("It is not called in the selection."));
            return;
        }
        this.element.replaceChildren(
            head,
            h("div", { class: "columns" }, this.spread(answer), this.slowest(answer.longest)),
        );
    }

    private spread(answer: Histogram): HTMLElement {
        const facts = (["min", "p50", "p90", "p99", "max"] as const).map((name) => {
            const value = answer[name];
            return h(
                "span",
                {},
                `${name} `,
                h("strong", {}, value === null ? "-" : units.time(value)),
            );
        });
        return h(
            "div",
            { class: "column" },
            h("p", { class: "spread" }, ...facts),
            this.bars(answer),
        );
    }

    /** A bar for each bucket between the shortest and the longest call; heights go by the logarithm. */
    private bars({ buckets, p50, p99 }: Histogram): HTMLElement {
        const most = buckets.reduce((top, bucket) => Math.max(top, bucket[2]), 1);
        const chart = h("div", { class: "bars", role: "list", "aria-label": "Calls by duration" });
        for (const [from, to, calls] of buckets) {
            const text = `${units.time(from)} to ${units.time(to)}: ${units.several(calls, "call")}`;
            const bar = h("span", { role: "listitem", title: text, "aria-label": text });
            const height = calls === 0 ? 0 : 4 + (96 * Math.log1p(calls)) / Math.log1p(most);
            bar.style.height = `${height}%`;
            const holds = (value: number | null): boolean =>
                value !== null && value >= from && value < to;
            bar.classList.toggle("marked", holds(p50) || holds(p99));
            chart.append(bar);
        }
        const [first, last] = [buckets[0], buckets.at(-1)];
        const ends = h(
            "div",
            { class: "bar-ends quiet" },
            h("span", {}, first === undefined ? "" : units.time(first[0])),
            h("span", {}, last === undefined ? "" : units.time(last[1])),
        );
        const about = h("p", { class: "quiet" }, "Full colour: p50 and p99. Heights by logarithm.");
        const drawn = h("div", { class: "chart" }, chart, ends);
        // Few buckets are no wall of colour.
        drawn.style.width = `${Math.max(BUCKET_WIDTH * buckets.length, LEAST_WIDTH)}px`;
        return h("div", {}, drawn, about);
    }

    private slowest(calls: readonly Call[]): HTMLElement {
        const { app } = this;
        const lines = calls.map((call, i): Cell[] => {
            const go = async (): Promise<void> => {
                const found = await app.pickCall(call.thread, call.start, call.depth);
                if (found !== null) {
                    app.show(view.around({ from: call.start, to: call.end }, app.whole), true);
                }
            };
            const length = `${bound(call)}${units.time(call.end - call.start)}`;
            const button = h(
                "button",
                { type: "button", class: "plain", on: { click: () => void go() } },
                `${i + 1}. ${length}`,
            );
            const thread = printable(threadTitle(app.trace.threads[call.thread]!));
            return [button, units.instant(call.start), thread];
        });
        const columns = [
            { title: "Slowest calls" },
            { title: "Start", number: true },
            { title: "Thread" },
        ];
        return h("div", { class: "column" }, table("Slowest calls", columns, lines));
    }
}
