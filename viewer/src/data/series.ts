// series.ts - samples and counters as lines of a chart. Pure. Samples are totals since the thread began; what is shown is how
// fast they grow, except for memory, which is an amount.
import type { Counters, Samples } from "../engine/protocol";
import * as units from "../base/units";

export interface Series {
    times: number[];
    /** The value from times[i] on; NaN: none. */
    values: number[];
    /** What the chart's height stands for. */
    top: number;
    tell: (value: number) => string;
}

function column(samples: Samples, names: readonly string[]): number[] {
    return names.map((name) => samples.columns.indexOf(name)).filter((i) => i >= 0);
}

/** Growth in each interval, told at the interval's beginning. @unit: per how many ns. */
function rate(
    samples: Samples,
    columns: readonly number[],
    unit: number,
): { times: number[]; values: number[] } {
    const times: number[] = [];
    const values: number[] = [];
    let before: { time: number; sum: number } | null = null;
    for (const row of samples.rows) {
        let sum = 0;
        let known = false;
        for (const c of columns) {
            const value = row[c + 1];
            if (value !== null && value !== undefined) {
                sum += value;
                known = true;
            }
        }
        const time = row[0] ?? 0;
        if (!known) {
            continue;
        }
        if (before !== null && time > before.time) {
            times.push(before.time);
            values.push((Math.max(0, sum - before.sum) * unit) / (time - before.time));
        }
        before = { time, sum };
    }
    if (before !== null && times.length > 0) {
        times.push(before.time);
        values.push(NaN);
    }
    return { times, values };
}

function amount(samples: Samples, at: number): { times: number[]; values: number[] } {
    const rows = samples.rows.filter((row) => typeof row[at + 1] === "number");
    return { times: rows.map((row) => row[0] ?? 0), values: rows.map((row) => row[at + 1] ?? NaN) };
}

function greatest(values: readonly number[]): number {
    return values.reduce((top, value) => (value > top ? value : top), 0);
}

const SECOND = 1e9;

/** The columns that each chart of layout.ts is made of. */
export const CHART_COLUMNS: Readonly<Record<string, readonly string[]>> = {
    CPU: ["cpu_ns"],
    faults: ["major_faults", "minor_faults"],
    switches: ["switches"],
    memory: ["process_bytes"],
};

export const chartSeries = {
    /** @end: until then the last value holds. */
    counter(counters: Counters, end: number): Series {
        const { rows } = counters;
        const times = rows.map((row) => row[0]);
        const values = rows.map((row) => row[3]);
        const top = greatest(rows.map((row) => row[2]));
        if (times.length > 0) {
            times.push(Math.max(end, times.at(-1)!));
            values.push(NaN);
        }
        return {
            times,
            values,
            top,
            tell: (value) => units.shortCount(value),
        };
    },

    samples(samples: Samples, chart: string): Series | null {
        const columns = column(samples, CHART_COLUMNS[chart] ?? []);
        if (columns.length === 0) {
            return null;
        }
        if (chart === "memory") {
            const line = amount(samples, columns[0]!);
            return { ...line, top: greatest(line.values), tell: units.bytes };
        }
        if (chart === "CPU") {
            // A share of one processor; a little above 1 where the clocks of sample and thread differ.
            const line = rate(samples, columns, 1);
            return { ...line, top: 1, tell: (value) => `${Math.round(value * 100)} %` };
        }
        const line = rate(samples, columns, SECOND);
        return {
            ...line,
            top: greatest(line.values),
            tell: (value) => `${units.shortCount(Math.round(value))}/s`,
        };
    },
};
