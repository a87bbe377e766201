// sandwich.ts - who calls a function and what it calls, directly, in the selection.
import type { State } from "../data/state";
import { h } from "../base/dom";
import type { Sandwich, SandwichRow } from "../engine/protocol";
import * as units from "../base/units";
import type { Panel } from "./host";
import {
    functionButton,
    functionHead,
    hint,
    more,
    NO_FUNCTION,
    shareCell,
    swatch,
    table,
    type Cell,
} from "./parts";

export class SandwichPanel implements Panel {
    readonly id = "sandwich";
    readonly title = "Callers and callees";
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
        const query = { ...app.selectionQuery, function: id };
        const answer = await app.ask<Sandwich>("sandwich", query, signal);
        const head = functionHead(
            app,
            id,
            units.several(answer.calls, "call"),
            `total ${units.time(answer.total)}`,
            `self ${units.time(answer.self)}`,
        );
        const columns = h(
            "div",
            { class: "columns" },
            this.side("Called by", answer.callers, answer.total, answer.more_callers ?? 0),
            this.side("Calls", answer.callees, answer.total, answer.more_callees ?? 0),
        );
        this.element.replaceChildren(head, columns);
    }

    private side(
        title: string,
        rows: readonly SandwichRow[],
        whole: number,
        left: number,
    ): HTMLElement {
        const { app } = this;
        if (rows.length === 0) {
            return h("div", { class: "column" }, h("h3", {}, `${title}: nothing`));
        }
        const lines = rows.map(([id, calls, total]): Cell[] => {
            const take = (): void => app.setFunction(id);
            const name =
                id === null
                    ? "the thread itself"
                    : h("span", { class: "cell" }, swatch(app, id), functionButton(app, id, take));
            return [name, units.count(calls), units.time(total), shareCell(total, whole)];
        });
        const columns = [
            { title },
            { title: "Calls", number: true },
            { title: "Time", number: true },
            { title: "Share", number: true },
        ];
        return h("div", { class: "column" }, table(title, columns, lines), more(left, "function"));
    }
}
