// text.ts - names on the canvas: how wide they are and how much of one fits.
import { printable } from "./dom";

const KEPT = 20_000;

/** Widths of one font, learnt as names are drawn. */
export class TextFit {
    private readonly widths = new Map<string, number>();

    constructor(
        private readonly context: CanvasRenderingContext2D,
        readonly font: string,
    ) {}

    /** In the context's units; the context must have `font` set. */
    width(text: string): number {
        const known = this.widths.get(text);
        if (known !== undefined) {
            return known;
        }
        if (this.widths.size >= KEPT) {
            this.widths.clear();
        }
        const width = this.context.measureText(text).width;
        this.widths.set(text, width);
        return width;
    }

    /** The name of a function in a tight place: whole, without arguments, its last part, or what fits of that. */
    fitName(name: string, room: number): string {
        const full = this.fit(name, room);
        if (!full.endsWith("…") && full !== "") {
            return full;
        }
        const short = shortName(name);
        const fitting = this.fit(short, room);
        return fitting.endsWith("…") || fitting === "" ? this.fit(lastName(short), room) : fitting;
    }

    /** The text, or as much of it as fits with an ellipsis; "" if that would say nothing. */
    fit(raw: string, room: number): string {
        const text = printable(raw);
        const width = this.width(text);
        if (width <= room) {
            return text;
        }
        const mark = this.width("…");
        let length = Math.floor((text.length * (room - mark)) / width);
        while (length > 2 && this.width(text.slice(0, length)) + mark > room) {
            length--;
        }
        return length < 2 ? "" : `${text.slice(0, length)}…`;
    }
}

/** Names of C++ and Java functions without arguments and return type: what distinguishes them on a narrow span. */
export function shortName(name: string): string {
    if (name.length < 24) {
        return name;
    }
    const open = outerParenthesis(name);
    const head = open > 0 ? name.slice(0, open) : name;
    const blank = lastBlank(head);
    return head.slice(blank + 1) || name;
}

/** What a compiler adds to the name of a part or a copy of a function: match.part.0.isra.0 */
const COPY = /(?:\.(?:part|isra|constprop|lto_priv|clone|llvm)\.\d+|\.cold|\.localalias|\.\d+)+$/;

/** What stands behind the last "::" or "." that is outside of <> and (): the method without its class. */
export function lastName(whole: string): string {
    const name = whole.replace(COPY, "") || whole;
    const operator = name.search(/\boperator\b/);
    if (operator >= 0) {
        return name.slice(operator);
    }
    let nesting = 0;
    for (let i = name.length - 1; i > 0; i--) {
        const c = name[i];
        if (c === ">" || c === ")") {
            nesting++;
        } else if (c === "<" || c === "(") {
            nesting--;
        } else if (nesting === 0 && (c === "." || (c === ":" && name[i - 1] === ":"))) {
            return i + 1 < name.length ? name.slice(i + 1) : name;
        }
    }
    return name;
}

const OPERATOR = /operator(\(\)|\[\]|[<>=!+\-*/%^&|~,]+)/y;

/** The first "(" outside of <> that is not part of "(anonymous namespace)" or of an operator's name; -1 if there is none. */
function outerParenthesis(name: string): number {
    let nesting = 0;
    for (let i = 0; i < name.length; i++) {
        OPERATOR.lastIndex = i;
        const c = name[i];
        if (c === "o" && OPERATOR.test(name)) {
            i = OPERATOR.lastIndex - 1;
        } else if (c === "<") {
            nesting++;
        } else if (c === ">" && nesting > 0) {
            nesting--;
        } else if (c === "(" && nesting === 0) {
            if (i > 0 && !name.startsWith("(anonymous", i)) {
                return i;
            }
            i = name.indexOf(")", i);
            if (i < 0) {
                return -1;
            }
        }
    }
    return -1;
}

/** The last blank outside of <> and (), which stands before the name where there is a return type. */
function lastBlank(head: string): number {
    const operator = head.search(/\boperator\b/);
    let nesting = 0;
    for (let i = operator > 0 ? operator - 1 : head.length - 1; i >= 0; i--) {
        const c = head[i];
        if (c === ">" || c === ")") {
            nesting++;
        } else if (c === "<" || c === "(") {
            nesting--;
        } else if (c === " " && nesting === 0) {
            return i;
        }
    }
    return -1;
}
