// units.ts - times and amounts as short text, and the marks of a ruler. Pure.
const UNITS: readonly [string, number][] = [
    ["d", 86_400e9],
    ["h", 3_600e9],
    ["min", 60e9],
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
    ["ns", 1],
];

function digits(value: number, significant: number): string {
    const whole = Math.max(1, Math.floor(Math.log10(Math.max(Math.abs(value), 1))) + 1);
    return value.toFixed(Math.max(0, significant - whole));
}

/** From about a minute on, the greatest unit and the next one: "1 h 5 min". */
function longTime(ns: number): string {
    for (const [big, unit, small, part] of [
        ["d", 86_400e9, "h", 3_600e9],
        ["h", 3_600e9, "min", 60e9],
        ["min", 60e9, "s", 1e9],
    ] as const) {
        const rounded = Math.round(ns / part) * part;
        if (rounded >= unit) {
            const whole = Math.floor(rounded / unit);
            const rest = Math.round((rounded - whole * unit) / part);
            const first = `${count(whole)} ${big}`;
            return rest === 0 ? first : `${first} ${rest} ${small}`;
        }
    }
    return "1 min";
}

/** A duration with three or four significant digits: "16.67 ms". Whole nanoseconds stay whole. */
export function time(ns: number, significant = 4): string {
    const size = Math.abs(ns);
    if (size < 999.5) {
        return `${Number.isInteger(ns) ? ns : digits(ns, 3)} ns`;
    }
    if (ns >= 59.995e9) {
        return longTime(ns);
    }
    for (const [name, unit] of UNITS) {
        // The unit that the rounded value belongs to: 999.99 µs is told as 1.000 ms.
        if (size >= unit * (1 - 0.5 * Math.pow(10, -significant))) {
            return `${digits(ns / unit, significant)} ${name}`;
        }
    }
    return `${ns} ns`;
}

/** A duration to the nanosecond: "1,234,567 ns". */
export function exactTime(ns: number): string {
    return `${count(Math.round(ns))} ns`;
}

/** A point in time to the nanosecond, in seconds: "12.000000345 s". */
export function instant(ns: number): string {
    const whole = Math.floor(ns / 1e9);
    const rest = Math.floor(ns - whole * 1e9);
    return `${count(whole)}.${String(rest).padStart(9, "0")} s`;
}

export function count(value: number): string {
    // Not by the browser's tables of languages: reading them takes longer than the first picture.
    return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "1 call", "2 calls". */
export function several(value: number, noun: string): string {
    return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** A count for tight places: "12.3k", "1.24 G" is written "1.24G". */
export function shortCount(value: number): string {
    const size = Math.abs(value);
    if (size < 10_000) {
        return count(value);
    }
    for (const [name, unit] of [
        ["T", 1e12],
        ["G", 1e9],
        ["M", 1e6],
        ["k", 1e3],
    ] as const) {
        if (size >= unit * 0.9995) {
            return `${digits(value / unit, 3)}${name}`;
        }
    }
    return count(value);
}

export function bytes(value: number): string {
    const size = Math.abs(value);
    for (const [name, unit] of [
        ["TiB", 2 ** 40],
        ["GiB", 2 ** 30],
        ["MiB", 2 ** 20],
        ["KiB", 2 ** 10],
    ] as const) {
        if (size >= unit) {
            return `${digits(value / unit, 3)} ${name}`;
        }
    }
    return `${value} B`;
}

export function share(part: number, whole: number): string {
    if (!(whole > 0)) {
        return "-";
    }
    const percent = (100 * part) / whole;
    if (percent > 0 && percent < 0.01) {
        return "<0.01 %";
    }
    return `${percent >= 9.995 ? percent.toFixed(1) : percent.toFixed(2)} %`;
}

/** The distances of ruler marks in ns that people can count in. */
function niceStep(least: number): number {
    if (least <= 1) {
        return 1;
    }
    const big = [
        60e9, 120e9, 300e9, 600e9, 1200e9, 1800e9, 3600e9, 7200e9, 14400e9, 21600e9, 43200e9,
    ];
    if (least > 30e9) {
        const found = big.find((step) => step >= least);
        return found ?? Math.ceil(least / 86_400e9) * 86_400e9;
    }
    if (least > 20e9) {
        return least > 30e9 ? 60e9 : 30e9;
    }
    const power = Math.pow(10, Math.floor(Math.log10(least)));
    for (const factor of [1, 2, 5, 10]) {
        if (factor * power >= least * (1 - 1e-9)) {
            return factor * power;
        }
    }
    return 10 * power;
}

export interface Tick {
    time: number;
    label: string;
}

export interface Ruler {
    step: number;
    /** Where the labels count from; 0 unless they would be too long. */
    base: number;
    ticks: Tick[];
}

/** The value in the unit of @step, with as many decimals as tell two neighbours apart. */
function tickLabel(value: number, step: number): string {
    const size = Math.max(Math.abs(value), step);
    for (const [name, unit] of UNITS) {
        if (size >= unit && (unit <= 1e9 || step >= unit)) {
            const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
            return `${(value / unit).toFixed(decimals)} ${name}`;
        }
    }
    return `${value} ns`;
}

/**
 * Marks for a window, at most one every @least ns. Where the labels would need more than five digits they count from
 * `base`, a round time at or before the window.
 */
export function ruler(from: number, to: number, least: number): Ruler {
    const step = niceStep(least);
    let base = 0;
    if (to > step * 20_000) {
        const coarse = Math.pow(10, Math.ceil(Math.log10(Math.max(to - from, step))));
        base = Math.floor(from / coarse) * coarse;
    }
    const ticks: Tick[] = [];
    const first = Math.ceil(from / step);
    for (let i = first; i * step <= to && ticks.length < 1000; i++) {
        const value = i * step;
        const label = tickLabel(value - base, step);
        ticks.push({ time: value, label: base > 0 ? `+${label}` : label });
    }
    return { step, base, ticks };
}
