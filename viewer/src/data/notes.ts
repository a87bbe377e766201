// notes.ts - what stands beside the calls: states, samples, counters, marks. Each is asked for a stretch around the window and
// kept until the window leaves it; meanwhile the old answer is painted where it belongs in time.
import { askJson, isAbort, path, type Engine, type Query } from "../engine/engine";
import type { Range } from "../engine/protocol";
import { duration } from "./view";

const WIDEST = 4096;
const KEPT = 400;
const AT_ONCE = 2;

interface Entry<T> {
    data: T | null;
    /** What `data` was asked for. */
    covers: Range | null;
    asked: Range | null;
}

interface Task {
    key: string;
    name: string;
    query: Query;
    range: Range;
    take: (data: unknown) => void;
    drop: () => void;
}

/** The stretch to ask for: the window and as much again on either side. */
function stretch(window: Range, whole: Range): Range {
    const room = duration(window);
    return {
        from: Math.max(whole.from, Math.floor(window.from - room)),
        to: Math.min(whole.to, Math.ceil(window.to + room)),
    };
}

export class Notes {
    private readonly entries = new Map<string, Entry<unknown>>();
    private tasks: Task[] = [];
    private running = 0;

    constructor(
        private readonly engine: Engine,
        private readonly arrived: () => void,
        private readonly failed: (error: unknown) => void,
    ) {}

    /** Called before a frame: what no frame asks for any more is not fetched. */
    begin(): void {
        for (const task of this.tasks) {
            task.drop();
        }
        this.tasks = [];
    }

    /**
     * What is known of @name with @query around @window; null if nothing is, and then it is fetched.
     * @pixels: width of the window
     */
    get<T>(name: string, query: Query, window: Range, pixels: number, whole: Range): T | null {
        const key = path(name, query);
        let entry = this.entries.get(key) as Entry<T> | undefined;
        if (entry === undefined) {
            entry = { data: null, covers: null, asked: null };
        } else {
            this.entries.delete(key);
        }
        this.entries.set(key, entry);
        if (!this.fits(entry.asked ?? entry.covers, window, whole)) {
            this.plan(entry, key, name, query, stretch(window, whole), pixels);
        }
        return entry.data;
    }

    private fits(covers: Range | null, window: Range, whole: Range): boolean {
        if (covers === null) {
            return false;
        }
        const isInside =
            covers.from <= Math.max(window.from, whole.from) &&
            covers.to >= Math.min(window.to, whole.to);
        return isInside && duration(covers) <= duration(window) * 6.5;
    }

    private plan<T>(
        entry: Entry<T>,
        key: string,
        name: string,
        query: Query,
        range: Range,
        pixels: number,
    ): void {
        entry.asked = range;
        const width = Math.min(WIDEST, Math.ceil(pixels * 3));
        this.tasks.push({
            key,
            name,
            query: {
                ...query,
                from: range.from,
                to: range.to,
                ...(name === "marks" ? { limit: width } : { width }),
            },
            range,
            take: (data) => {
                entry.data = data as T;
                entry.covers = range;
                entry.asked = null;
            },
            drop: () => {
                entry.asked = null;
            },
        });
    }

    /** Called after a frame. */
    end(): void {
        while (this.running < AT_ONCE) {
            const task = this.tasks.shift();
            if (task === undefined) {
                break;
            }
            this.running++;
            void this.run(task);
        }
        for (const [key] of this.entries) {
            if (this.entries.size <= KEPT) {
                break;
            }
            this.entries.delete(key);
        }
    }

    private async run(task: Task): Promise<void> {
        try {
            task.take(await askJson<unknown>(this.engine, path(task.name, task.query)));
        } catch (error) {
            // Not asked again for this window: `asked` stays.
            if (!isAbort(error)) {
                this.failed(error);
            }
        } finally {
            this.running--;
            this.arrived();
        }
    }

    /** The trace has grown. */
    refresh(): void {
        for (const entry of this.entries.values()) {
            entry.covers = null;
            entry.asked = null;
        }
    }
}
