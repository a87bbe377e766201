// comparetext.ts - what differs between two traces, as text. Pure.
import {
    change,
    isGone,
    isNew,
    ratio,
    value,
    type Item,
    type Measure,
    type Side,
} from "../data/compare";
import * as units from "../base/units";

function amount(size: number, measure: Measure): string {
    return measure === "calls" ? units.count(size) : units.time(size);
}

export function valueText(item: Item, measure: Measure, side: Side): string {
    const of = value(item, measure, side);
    return of === null ? "-" : amount(of, measure);
}

/** "+1.200 ms"; "-" where there is nothing to compare. */
export function changed(item: Item, measure: Measure): string {
    const by = change(item, measure);
    if (by === null) {
        return "-";
    }
    const sign = by > 0 ? "+" : by < 0 ? "\u2212" : "\u00b1";
    return `${sign}${amount(Math.abs(by), measure)}`;
}

/** "1.25×", "new" or "gone". */
export function ratioText(item: Item, measure: Measure): string {
    if (isNew(item)) {
        return "new";
    }
    if (isGone(item)) {
        return "gone";
    }
    const of = ratio(item, measure);
    if (of === Infinity) {
        return "from 0";
    }
    return `${of >= 9.995 ? units.count(of) : of.toFixed(of < 0.0995 ? 3 : 2)}\u00d7`;
}

/** "1.000 ms to 1.250 ms (+250.0 µs, 1.25×)". */
export function compared(item: Item, measure: Measure): string {
    const [a, b] = [valueText(item, measure, 0), valueText(item, measure, 1)];
    if (isNew(item)) {
        return `${b}, only in B`;
    }
    if (isGone(item)) {
        return `${a}, only in A`;
    }
    return a === b && change(item, measure) === 0
        ? `${a} in both`
        : `${a} to ${b} (${changed(item, measure)}, ${ratioText(item, measure)})`;
}
