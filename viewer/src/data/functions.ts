// functions.ts - names and colours by function id. A few thousand are fetched at once; a function that is not there yet
// has a plain colour and an empty name. While a trace is being recorded there are more of them from time to time.
import { askJson, isAbort, path, type Engine } from "../engine/engine";
import { fill, hash, HUE_COUNT, pixel, plainFill, type Rgb, type ThemeName } from "../base/palette";
import type { FunctionRow, Trace } from "../engine/protocol";

const PAGE = 2048;

const LEAST_GROUPS = 4;
const GREATEST_GROUP = 0.45;

/** What gives a call its hue. */
export type ColourBy = "module" | "category" | "file" | "function";

const WAYS: readonly ColourBy[] = ["category", "module", "file", "function"];

export class Functions {
    private readonly rows: (FunctionRow | undefined)[] = [];
    private readonly pages = new Set<number>();
    private readonly groups = new Map<string, number>();
    /** Pixels by function id; painting reads it directly. */
    colours: Uint32Array;
    private theme: ThemeName = "light";
    private by: ColourBy = "module";
    /** `by` was found by looking at names, or chosen. */
    private chosen = false;
    private readonly waiting = new Set<number>();
    /** Pages that something was wanted of that was not there yet. */
    private readonly beyond = new Set<number>();
    private count: number;
    private categories: readonly string[];

    constructor(
        private readonly engine: Engine,
        private readonly trace: Trace,
        private readonly arrived: () => void,
        private readonly failed: (error: unknown) => void,
    ) {
        this.count = trace.functions;
        this.categories = trace.categories;
        this.colours = new Uint32Array(Math.max(this.count, 1));
        this.paintAll();
    }

    get total(): number {
        return this.count;
    }

    /** The trace has grown. What is known is shown until the answer comes. @all: asks for all of them again. */
    grow(all: boolean): void {
        const { functions, categories } = this.trace;
        const isSame = categories.join("\n") === this.categories.join("\n");
        const before = this.count;
        if (functions > before) {
            const { colours } = this;
            this.count = functions;
            this.colours = new Uint32Array(functions).fill(pixel(plainFill(this.theme)));
            this.colours.set(colours.subarray(0, before));
            // That page was not full.
            this.beyond.add(Math.floor(before / PAGE));
        }
        // Categories are numbered as they come.
        this.categories = categories;
        this.refetch(all || !isSame ? [...this.pages, ...this.beyond] : [...this.beyond]);
    }

    private refetch(pages: readonly number[]): void {
        for (const page of pages) {
            this.pages.delete(page);
            this.beyond.delete(page);
            this.need(page * PAGE);
        }
    }

    row(id: number | null): FunctionRow | undefined {
        if (id === null) {
            return undefined;
        }
        const found = this.rows[id];
        if (found === undefined) {
            this.need(id);
        }
        return found;
    }

    name(id: number | null): string {
        if (id === null) {
            return "(unknown)";
        }
        const row = this.row(id);
        if (row !== undefined) {
            return row.name === "" ? `function ${id}` : row.name;
        }
        return id < this.total || this.trace.growing ? "" : `function ${id}`;
    }

    /** Where the function comes from: module, file and line as far as known. */
    place(id: number | null): string {
        const row = this.row(id);
        if (row === undefined) {
            return "";
        }
        const file = row.file === null || row.file === "" ? null : row.file;
        const source =
            file === null
                ? null
                : row.line === null || row.line === 0
                  ? file
                  : `${file}:${row.line}`;
        return [source, baseName(row.module ?? "")]
            .filter((part) => part !== null && part !== "")
            .join("  ");
    }

    category(id: number | null): string {
        const row = this.row(id);
        return row === undefined ? "" : (this.categories[row.category] ?? "");
    }

    rgb(id: number | null): Rgb {
        const value =
            id === null || id >= this.total ? pixel(plainFill(this.theme)) : this.colours[id]!;
        return [value & 255, (value >>> 8) & 255, (value >>> 16) & 255];
    }

    setTheme(theme: ThemeName): void {
        if (theme !== this.theme) {
            this.theme = theme;
            this.paintAll();
        }
    }

    private setColourBy(by: ColourBy): void {
        this.by = by;
        this.chosen = true;
        this.groups.clear();
        this.paintAll();
    }

    /** The next way to choose hues; tells which. */
    nextColours(): ColourBy {
        const at = WAYS.indexOf(this.by);
        const next = WAYS[(at + 1) % WAYS.length]!;
        this.setColourBy(next);
        return next;
    }

    /** What sorts the functions into some groups of which none has most of them; else each stands for itself. */
    private best(): ColourBy {
        const rows = this.rows.filter((row) => row !== undefined);
        const ways: [ColourBy, (row: FunctionRow) => string | number | null][] = [
            ["category", (row) => row.category],
            ["module", (row) => row.module],
            ["file", (row) => row.file],
        ];
        for (const [by, key] of ways) {
            const sizes = new Map<string | number | null, number>();
            for (const row of rows) {
                sizes.set(key(row), (sizes.get(key(row)) ?? 0) + 1);
            }
            const most = Math.max(0, ...sizes.values());
            if (sizes.size >= LEAST_GROUPS && most <= rows.length * GREATEST_GROUP) {
                return by;
            }
        }
        return "function";
    }

    need(id: number): void {
        const page = Math.floor(id / PAGE);
        if (id >= this.total) {
            this.beyond.add(page);
        } else if (!this.pages.has(page)) {
            this.pages.add(page);
            this.waiting.add(page);
            queueMicrotask(() => void this.fetch());
        }
    }

    private async fetch(): Promise<void> {
        const pages = [...this.waiting];
        this.waiting.clear();
        await Promise.all(
            pages.map(async (page) => {
                try {
                    const where = path("functions", { first: page * PAGE, limit: PAGE });
                    const answer = await askJson<{ functions: FunctionRow[] }>(this.engine, where);
                    this.add(answer.functions);
                    if (answer.functions.length < Math.min(PAGE, this.total - page * PAGE)) {
                        this.beyond.add(page);
                    }
                } catch (error) {
                    if (!isAbort(error)) {
                        this.failed(error);
                    }
                }
            }),
        );
        if (pages.length > 0) {
            this.arrived();
        }
    }

    private add(rows: readonly FunctionRow[]): void {
        for (const row of rows) {
            if (row.id < this.total) {
                this.rows[row.id] = row;
            }
        }
        if (!this.chosen) {
            this.chosen = true;
            this.by = this.best();
        }
        for (const row of rows) {
            this.paint(row);
        }
    }

    private paint(row: FunctionRow): void {
        if (row.id < this.total) {
            this.colours[row.id] = pixel(fill(this.theme, this.group(row), row.name));
        }
    }

    private paintAll(): void {
        this.colours.fill(pixel(plainFill(this.theme)));
        for (const row of this.rows) {
            if (row !== undefined) {
                this.paint(row);
            }
        }
    }

    private group(row: FunctionRow): number {
        if (this.by === "category") {
            return row.category;
        }
        if (this.by === "function") {
            return hash(row.name) % HUE_COUNT;
        }
        const key = (this.by === "module" ? row.module : row.file) ?? "";
        const found = this.groups.get(key);
        if (found !== undefined) {
            return found;
        }
        const group = this.groups.size;
        this.groups.set(key, group);
        return group;
    }
}

export function baseName(file: string): string {
    return file.slice(file.lastIndexOf("/") + 1);
}
