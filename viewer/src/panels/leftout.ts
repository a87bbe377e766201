// leftout.ts - the functions that were not recorded all the time, why, and what is estimated of them.
import type { State } from "../data/state";
import { h } from "../base/dom";
import type { Estimate, LeftOutRow } from "../engine/protocol";
import * as units from "../base/units";
import type { Panel } from "./host";
import { functionButton, hint, more, swatch, table, type Cell } from "./parts";

const LIMIT = 2000;

function estimate(value: Estimate | null, tell: (of: number) => string): string {
    return value === null ? "-" : `${tell(value[0])} ± ${tell(value[1])}`;
}

export class LeftOutPanel implements Panel {
    readonly id = "left-out";
    readonly title = "Left out";
    readonly topics = ["functions", "theme", "trace"] as const;
    readonly unscoped = true;
    readonly element = h("div");

    constructor(private readonly app: State) {}

    async update(signal: AbortSignal): Promise<void> {
        const query = { limit: LIMIT };
        const answer = await this.app.ask<{ rows: LeftOutRow[]; more: number }>(
            "left-out",
            query,
            signal,
        );
        if (answer.rows.length === 0) {
            this.element.replaceChildren(hint("No function was left out."));
            return;
        }
        const columns = [
            { title: "Function" },
            { title: "Why" },
            { title: "From", number: true },
            { title: "To", number: true },
            { title: "Calls left out", number: true },
            { title: "Total", number: true },
            { title: "Self", number: true },
        ];
        const lines = answer.rows.map((row) => this.line(row));
        this.element.replaceChildren(
            table("Functions left out", columns, lines),
            more(answer.more, "function"),
        );
    }

    private line(row: LeftOutRow): Cell[] {
        const { app } = this;
        const id = row.function;
        const name =
            id === null
                ? "all functions"
                : h(
                      "span",
                      { class: "cell" },
                      swatch(app, id),
                      functionButton(app, id, () => app.setFunction(id)),
                  );
        return [
            name,
            row.reason,
            units.instant(row.from),
            row.to === null ? "the end" : units.instant(row.to),
            estimate(row.calls, units.count),
            estimate(row.total, units.time),
            estimate(row.self, units.time),
        ];
    }
}
