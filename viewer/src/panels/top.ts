// top.ts - the functions of the selection with their times, the costliest first.
import type { State } from "../data/state";
import { h } from "../base/dom";
import type { Report, ReportRow } from "../engine/protocol";
import * as units from "../base/units";
import type { Panel } from "./host";
import { functionButton, hint, noCalls, swatch } from "./parts";

type Column = "name" | "calls" | "total" | "self" | "min" | "p50" | "p90" | "p99" | "max";

const COLUMNS: readonly { id: Column; title: string; about: string }[] = [
    { id: "name", title: "Function", about: "Sort by name" },
    { id: "calls", title: "Calls", about: "Number of calls" },
    { id: "total", title: "Total", about: "From entry to return, with what it calls" },
    { id: "self", title: "Self", about: "Without what it calls" },
    { id: "min", title: "Min", about: "Shortest call" },
    { id: "p50", title: "p50", about: "Half of the calls are shorter" },
    { id: "p90", title: "p90", about: "90 % of the calls are shorter" },
    { id: "p99", title: "p99", about: "99 % of the calls are shorter" },
    { id: "max", title: "Max", about: "Longest call" },
];

const LIMITS = [200, 2000, 10_000];

export class TopPanel implements Panel {
    readonly id = "top";
    readonly title = "Top functions";
    readonly topics = ["selection", "functions", "trace", "theme"] as const;
    readonly element = h("div");
    private sort: Column = "self";
    private limit = 0;
    private shown = "";
    private report: Report | null = null;

    constructor(private readonly app: State) {}

    async update(signal?: AbortSignal): Promise<void> {
        const { app } = this;
        const query = { ...app.selectionQuery, sort: this.sort, limit: LIMITS[this.limit] };
        const key = JSON.stringify([query, app.trace.end]);
        if (key !== this.shown || this.report === null) {
            this.report = await app.ask<Report>("report", query, signal);
            this.shown = key;
        }
        this.build(this.report);
    }

    private again(): void {
        this.update().catch((error: unknown) => this.app.fail(error));
    }

    private build(report: Report): void {
        if (report.rows.length === 0) {
            this.element.replaceChildren(hint(noCalls(this.app)));
            return;
        }
        const body = h("tbody", {}, ...this.rows(report.rows));
        const table = h("table", { class: "table" }, this.head(report.rough), body);
        const focused = document.activeElement?.closest("[data-sort]")?.getAttribute("data-sort");
        const scroll = this.element.scrollTop;
        this.element.replaceChildren(table, this.foot(report));
        this.element.scrollTop = scroll;
        if (focused !== null && focused !== undefined) {
            this.element.querySelector<HTMLElement>(`[data-sort=${focused}]`)?.focus();
        }
    }

    private foot(report: Report): HTMLElement {
        const facts = [
            `${units.several(report.calls, "call")} of ${units.several(report.functions, "function")}`,
        ];
        if (report.bounds > 0) {
            facts.push(`${units.count(report.bounds)} with a start or end that was not seen`);
        }
        if (report.lost > 0) {
            facts.push(`${units.several(report.lost, "event")} lost`);
        }
        if (report.rough) {
            facts.push("quantiles are within 6.3 %, from the index");
        }
        const foot = h("p", { class: "foot" }, facts.join(", "));
        if (report.more > 0 && this.limit + 1 < LIMITS.length) {
            const more = (): void => {
                this.limit++;
                this.again();
            };
            const label = `Show more (${units.count(report.more)} left)`;
            foot.append(" ", h("button", { type: "button", on: { click: more } }, label));
        }
        return foot;
    }

    private head(rough: boolean): HTMLElement {
        const cells = COLUMNS.map((column) => this.headCell(column, rough));
        return h("thead", {}, h("tr", {}, ...cells));
    }

    private headCell({ id, title, about }: (typeof COLUMNS)[number], rough: boolean): HTMLElement {
        const isRough = rough && /^p\d/.test(id);
        const isSorted = id === this.sort;
        const mark = h("span", { "aria-hidden": "true", class: "mark" }, id === "name" ? "▲" : "▼");
        const sort = (): void => {
            this.sort = id;
            this.again();
        };
        const button = h(
            "button",
            {
                type: "button",
                class: "plain",
                title: isRough ? `${about}: within 6.3 %, from the index` : about,
                "data-sort": id,
                on: { click: sort },
            },
            title,
            isSorted ? mark : null,
        );
        return h(
            "th",
            {
                scope: "col",
                class: id === "name" ? null : "number",
                "aria-sort": isSorted ? (id === "name" ? "ascending" : "descending") : null,
            },
            button,
        );
    }

    /** What the bar of a row stands for. */
    private weight(row: ReportRow): number {
        return (this.sort === "name" ? row.self : row[this.sort]) ?? 0;
    }

    private rows(rows: readonly ReportRow[]): HTMLElement[] {
        const most = rows.reduce((top, row) => Math.max(top, this.weight(row)), 0);
        return rows.map((row) => {
            const go = (): void => {
                if (row.function !== null) {
                    void this.app.jump({ function: row.function, go: "longest", nth: 1 });
                }
            };
            const badge =
                row.left_out === null
                    ? null
                    : h(
                          "span",
                          { class: "badge", title: leftOut(row) },
                          `left out: ${row.left_out}`,
                      );
            const name = h(
                "span",
                { class: "cell" },
                swatch(this.app, row.function),
                functionButton(this.app, row.function, go),
                badge,
            );
            return h(
                "tr",
                {},
                h("th", { scope: "row", class: "wide" }, name),
                ...this.numbers(row, most),
            );
        });
    }

    private numbers(row: ReportRow, most: number): HTMLElement[] {
        return COLUMNS.slice(1).map(({ id }) => {
            const value = row[id as Exclude<Column, "name">];
            const isTime = id !== "calls" && value !== null;
            const text =
                value === null ? "-" : id === "calls" ? units.count(value) : units.time(value);
            const cell = h(
                "td",
                { class: "number", title: isTime ? units.exactTime(value) : null },
                text,
            );
            if (id === this.sort) {
                const bar = h("span", { class: "bar", "aria-hidden": "true" });
                const share = most > 0 ? this.weight(row) / most : 0;
                bar.style.width = `calc((100% - 24px) * ${share})`;
                cell.append(bar);
                cell.classList.add("sorted");
            }
            return cell;
        });
    }
}

function leftOut(row: ReportRow): string {
    if (row.more_calls === null || row.more_calls === undefined) {
        return "Its calls were left out for a part of the time.";
    }
    const [calls, error] = row.more_calls;
    return `About ${units.several(calls, "call")} (±${units.count(error)}) more were left out.`;
}
