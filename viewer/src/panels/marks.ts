// marks.ts - the marks of the selected time.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import { threadTitle } from "../timeline/lanes";
import type { Marks } from "../engine/protocol";
import * as units from "../base/units";
import * as view from "../data/view";
import type { Panel } from "./host";
import { hint, more, table, type Cell } from "./parts";

const LIMIT = 1000;

export class MarksPanel implements Panel {
    readonly id = "marks";
    readonly title = "Marks";
    readonly topics = ["selection", "trace"] as const;
    readonly element = h("div");

    constructor(private readonly app: State) {}

    async update(signal: AbortSignal): Promise<void> {
        const { app } = this;
        const query = { ...app.selectionQuery, threads: null, limit: LIMIT };
        const answer = await app.ask<Marks>("marks", query, signal);
        const marks = answer.marks.filter((mark) => app.threads?.includes(mark.thread) ?? true);
        if (marks.length === 0) {
            this.element.replaceChildren(hint("No marks in the selection."));
            return;
        }
        const lines = marks.map((mark, i): Cell[] => {
            const go = (): void => {
                const half = view.duration(app.goal) / 2;
                app.show({ from: mark.time - half, to: mark.time + half }, true);
            };
            const button = h(
                "button",
                { type: "button", class: "plain", on: { click: go } },
                printable(mark.name),
            );
            const before = marks[i - 1];
            return [
                button,
                printable(mark.text),
                units.instant(mark.time),
                before === undefined ? "" : `+${units.time(mark.time - before.time)}`,
                printable(threadTitle(app.trace.threads[mark.thread]!)),
            ];
        });
        const columns = [
            { title: "Mark" },
            { title: "Text", wide: true },
            { title: "Time", number: true },
            { title: "Since the one before", number: true },
            { title: "Thread" },
        ];
        this.element.replaceChildren(table("Marks", columns, lines), more(answer.more, "mark"));
    }
}
