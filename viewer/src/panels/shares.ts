// shares.ts - what part of the selected time is spent in which category of functions.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import type { Shares } from "../engine/protocol";
import * as units from "../base/units";
import type { Panel } from "./host";
import { hint, noCalls, shareCell, table, type Cell } from "./parts";

export class SharesPanel implements Panel {
    readonly id = "shares";
    readonly title = "Shares";
    readonly topics = ["selection", "trace"] as const;
    readonly element = h("div");

    constructor(private readonly app: State) {}

    async update(signal: AbortSignal): Promise<void> {
        const { app } = this;
        const answer = await app.ask<Shares>("shares", app.selectionQuery, signal);
        if (answer.total === 0) {
            this.element.replaceChildren(hint(noCalls(app)));
            return;
        }
        const rows = [...answer.rows].sort((a, b) => b.self - a.self);
        const lines = rows.map((row): Cell[] => [
            printable(app.trace.categories[row.category] ?? `category ${row.category}`),
            shareCell(row.self, answer.total),
            units.time(row.self),
            units.count(row.calls),
        ]);
        const columns = [
            { title: "Category" },
            { title: "Share", number: true },
            { title: "Self", number: true },
            { title: "Calls", number: true },
        ];
        const foot = `${units.time(answer.total)} in calls, all selected threads together`;
        this.element.replaceChildren(
            table("Shares by category", columns, lines),
            h("p", { class: "foot" }, foot),
        );
    }
}
