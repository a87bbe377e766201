// sql.ts - questions in SQL, answered by the tables of `nanoscope query`.
import type { State } from "../data/state";
import { h, printable } from "../base/dom";
import type { Panel } from "./host";
import { hint, table, type Cell } from "./parts";

const LIMIT = 1000;
/** Groups by the id alone: that sorts nothing, and so goes with traces of any size. */
const FIRST =
    "WITH sums AS (SELECT function_id, count(*) AS calls, sum(self_ns) AS self_ns\n" +
    "              FROM calls GROUP BY function_id)\n" +
    "SELECT name, calls, self_ns FROM sums JOIN functions USING (function_id)\n" +
    "ORDER BY self_ns DESC LIMIT 20";

interface Answer {
    columns: string[];
    rows: (string | number | null)[][];
    more: number;
}

export class SqlPanel implements Panel {
    readonly id = "sql";
    readonly title = "SQL";
    readonly topics = [] as const;
    readonly unscoped = true;
    readonly element: HTMLElement;
    private readonly box = h("textarea", {
        class: "sql",
        rows: 4,
        spellcheck: "false",
        "aria-label": "Question in SQL",
    });
    private readonly result = h("div", { "aria-live": "polite" });
    /** While a statement runs: it may take long. */
    private readonly cancel = h(
        "button",
        { type: "button", hidden: true, on: { click: () => this.stop() } },
        "Cancel",
    );
    private abort: AbortController | null = null;

    constructor(private readonly app: State) {
        this.box.value = FIRST;
        this.box.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                event.preventDefault();
                void this.run();
            }
        });
        const run = h("button", { type: "button", on: { click: () => void this.run() } }, "Run");
        const about =
            "Ctrl + Enter. Tables: calls, functions, threads, processes, samples, states, marks, counters, losses, left_out, categories.";
        const bar = h(
            "div",
            { class: "buttons" },
            run,
            this.cancel,
            h("span", { class: "quiet" }, about),
        );
        this.element = h("div", { class: "sql-panel" }, this.box, bar, this.result);
    }

    update(): void {
        // It is filled when it is asked to run.
    }

    private async run(): Promise<void> {
        this.abort?.abort();
        const abort = (this.abort = new AbortController());
        const { signal } = abort;
        this.cancel.hidden = false;
        this.result.replaceChildren(hint("Working..."));
        try {
            const query = { sql: this.box.value, limit: LIMIT };
            const answer = await this.app.ask<Answer>("query", query, signal);
            this.show(answer);
        } catch (error) {
            if (!signal.aborted) {
                this.result.replaceChildren(
                    hint(error instanceof Error ? error.message : String(error)),
                );
            }
        } finally {
            if (this.abort === abort) {
                this.abort = null;
                this.cancel.hidden = true;
            }
        }
    }

    private stop(): void {
        this.abort?.abort();
        this.result.replaceChildren(hint("Cancelled."));
        // The button that had the focus is gone.
        this.box.focus();
    }

    private show({ columns, rows, more: left }: Answer): void {
        if (rows.length === 0) {
            this.result.replaceChildren(hint("No rows."));
            return;
        }
        const heads = columns.map((title, i) => ({
            title: printable(title),
            number: rows.every((row) => row[i] === null || typeof row[i] === "number"),
        }));
        const lines = rows.map((row): Cell[] =>
            row.map((value) => (value === null ? "NULL" : printable(String(value)))),
        );
        this.result.replaceChildren(
            table("Answer", heads, lines),
            left > 0 ? h("p", { class: "foot" }, "There are more rows.") : "",
        );
    }
}
