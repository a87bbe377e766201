// tiles.ts - the tiles that are at hand, the ones under way and the ones wanted. The timeline tells each frame what
// it wants; a tile that is not here is painted from coarser or finer ones that are.
import { askBytes, isAbort, path, type Engine } from "../engine/engine";
import { decodeTiles, TILE_COLUMNS, TILE_GROWING, TILE_UNITS, type Tile } from "./tile";

/** Rows that are asked for at once; a thread with more of them is asked block by block. */
export const BLOCK_ROWS = 64;
const TILES_A_REQUEST = 64;
const REQUESTS_AT_ONCE = 2;
const CACHE_BYTES = 24 << 20;
/** Zoom levels up and down in which a stand-in is looked for. */
const COARSER = 24;
const FINER = 2;
const GREATEST_ZOOM = 62;

/** The zoom whose columns are as wide as a pixel or a little narrower. */
export function zoomFor(nsPerPixel: number): number {
    const zoom = Math.floor(Math.log2(nsPerPixel * TILE_COLUMNS) + 1e-9);
    return Math.min(Math.max(zoom, 0), GREATEST_ZOOM);
}

export function tileLength(zoom: number): number {
    return Math.pow(2, zoom);
}

export function tileKey(thread: number, block: number, zoom: number, index: number): string {
    return `${thread}/${block}/${zoom}/${index}`;
}

export interface Want {
    thread: number;
    block: number;
    zoom: number;
    index: number;
}

/** A part of the window, and the tile that paints it. */
export interface Piece {
    tile: Tile;
    zoom: number;
    /** ns; the tile itself may cover more. */
    from: number;
    to: number;
}

/** The time of a place in the piece's tile, given in 65,536ths of it, and the other way round. */
export function timeIn({ tile, zoom }: Piece, x: number): number {
    return (tile.index + x / TILE_UNITS) * tileLength(zoom);
}

export function placeIn({ tile, zoom }: Piece, time: number): number {
    return (time / tileLength(zoom) - tile.index) * TILE_UNITS;
}

export interface Request {
    zoom: number;
    block: number;
    first: number;
    count: number;
    threads: number[];
    keys: string[];
}

/** Wants with the same place in time are asked together. Keeps the order in which things are wanted. */
export function planRequests(wants: readonly Want[]): Request[] {
    const runs = new Map<string, Request>();
    const byThread = new Map<string, Want[]>();
    for (const want of wants) {
        const key = `${want.thread}/${want.block}/${want.zoom}`;
        const list = byThread.get(key);
        if (list === undefined) {
            byThread.set(key, [want]);
        } else {
            list.push(want);
        }
    }
    for (const list of byThread.values()) {
        list.sort((a, b) => a.index - b.index);
        for (let i = 0; i < list.length; ) {
            let n = 1;
            while (
                i + n < list.length &&
                list[i + n]!.index === list[i]!.index + n &&
                n < TILES_A_REQUEST
            ) {
                n++;
            }
            const { thread, block, zoom, index } = list[i]!;
            let key = `${zoom}/${block}/${index}/${n}`;
            let run = runs.get(key);
            while (run !== undefined && (run.threads.length + 1) * n > TILES_A_REQUEST) {
                key += "+";
                run = runs.get(key);
            }
            if (run === undefined) {
                run = { zoom, block, first: index, count: n, threads: [], keys: [] };
                runs.set(key, run);
            }
            run.threads.push(thread);
            for (let k = 0; k < n; k++) {
                run.keys.push(tileKey(thread, block, zoom, index + k));
            }
            i += n;
        }
    }
    return [...runs.values()];
}

interface Flight {
    request: Request;
    abort: AbortController;
}

export class Tiles {
    /** Least recently used first. */
    private readonly cache = new Map<string, Tile>();
    private readonly flights = new Set<Flight>();
    private readonly flying = new Set<string>();
    private readonly refused = new Set<string>();
    private wanted = new Map<string, Want>();
    private bytes = 0;

    constructor(
        private readonly engine: Engine,
        private readonly arrived: () => void,
        private readonly came: (tile: Tile) => void,
        private readonly failed: (error: unknown) => void,
    ) {}

    get(thread: number, block: number, zoom: number, index: number): Tile | undefined {
        const key = tileKey(thread, block, zoom, index);
        const tile = this.cache.get(key);
        if (tile !== undefined) {
            this.cache.delete(key);
            this.cache.set(key, tile);
        }
        return tile;
    }

    /** What paints [from, to) of a thread's rows best, from left to right; what is missing is noted as wanted. */
    pieces(thread: number, block: number, zoom: number, from: number, to: number): Piece[] {
        const length = tileLength(zoom);
        const list: Piece[] = [];
        const last = Math.ceil(to / length) - 1;
        for (let index = Math.floor(from / length); index <= last; index++) {
            const tile = this.get(thread, block, zoom, index);
            const start = index * length;
            if (tile !== undefined) {
                list.push({ tile, zoom, from: start, to: start + length });
                continue;
            }
            this.wanted.set(tileKey(thread, block, zoom, index), { thread, block, zoom, index });
            this.standIn(list, thread, block, zoom, index);
        }
        return list;
    }

    private standIn(
        list: Piece[],
        thread: number,
        block: number,
        zoom: number,
        index: number,
    ): void {
        const length = tileLength(zoom);
        const before = list.length;
        this.finer(list, thread, block, zoom, index, FINER);
        if (list.length > before) {
            return;
        }
        for (let up = 1; up <= COARSER && zoom + up <= GREATEST_ZOOM; up++) {
            const tile = this.get(thread, block, zoom + up, Math.floor(index / tileLength(up)));
            if (tile !== undefined) {
                list.push({
                    tile,
                    zoom: zoom + up,
                    from: index * length,
                    to: (index + 1) * length,
                });
                return;
            }
        }
    }

    private finer(
        list: Piece[],
        thread: number,
        block: number,
        zoom: number,
        index: number,
        left: number,
    ): void {
        if (left === 0 || zoom === 0) {
            return;
        }
        const length = tileLength(zoom - 1);
        for (const child of [index * 2, index * 2 + 1]) {
            const tile = this.get(thread, block, zoom - 1, child);
            if (tile !== undefined) {
                list.push({ tile, zoom: zoom - 1, from: child * length, to: (child + 1) * length });
            } else {
                this.finer(list, thread, block, zoom - 1, child, left - 1);
            }
        }
    }

    /** Called before the pieces of a frame are asked for. */
    begin(): void {
        this.wanted = new Map();
    }

    /** Called after them: sends what is wanted and gives up what nobody wants any more. True if all is at hand. */
    end(): boolean {
        this.giveUp();
        const missing: Want[] = [];
        for (const [key, want] of this.wanted) {
            if (!this.flying.has(key) && !this.refused.has(key)) {
                missing.push(want);
            }
        }
        if (missing.length === 0) {
            return this.flights.size === 0;
        }
        for (const request of planRequests(missing)) {
            if (this.flights.size >= REQUESTS_AT_ONCE) {
                break;
            }
            void this.send(request);
        }
        return false;
    }

    /** A request that nobody waits for is stopped only when it keeps others waiting: its tiles are of use later. */
    private giveUp(): void {
        if (this.flights.size < REQUESTS_AT_ONCE) {
            return;
        }
        for (const flight of this.flights) {
            if (!flight.request.keys.some((key) => this.wanted.has(key))) {
                flight.abort.abort();
                this.land(flight);
            }
        }
    }

    private land(flight: Flight): void {
        if (this.flights.delete(flight)) {
            for (const key of flight.request.keys) {
                this.flying.delete(key);
            }
        }
    }

    private async send(request: Request): Promise<void> {
        const flight = { request, abort: new AbortController() };
        this.flights.add(flight);
        for (const key of request.keys) {
            this.flying.add(key);
        }
        try {
            const where = path("tiles", {
                zoom: request.zoom,
                first: request.first,
                count: request.count,
                threads: request.threads.join(","),
                depth: request.block * BLOCK_ROWS,
                rows: BLOCK_ROWS,
            });
            const answer = await askBytes(this.engine, where, flight.abort.signal);
            const tiles = decodeTiles(answer, { ...request, rows: BLOCK_ROWS });
            for (const tile of tiles) {
                this.put(tileKey(tile.thread, request.block, request.zoom, tile.index), tile);
                this.came(tile);
            }
            for (const key of request.keys) {
                if (!this.cache.has(key)) {
                    this.refused.add(key);
                }
            }
        } catch (error) {
            if (!isAbort(error)) {
                for (const key of request.keys) {
                    this.refused.add(key);
                }
                this.failed(error);
            }
        } finally {
            this.land(flight);
            this.arrived();
        }
    }

    private put(key: string, tile: Tile): void {
        const old = this.cache.get(key);
        if (old !== undefined) {
            this.bytes -= old.bytes;
            this.cache.delete(key);
        }
        this.cache.set(key, tile);
        this.bytes += tile.bytes;
        for (const [oldest, victim] of this.cache) {
            if (this.bytes <= CACHE_BYTES) {
                break;
            }
            this.cache.delete(oldest);
            this.bytes -= victim.bytes;
        }
    }

    /** The trace has grown: what could still change is asked again. */
    refresh(): void {
        for (const [key, tile] of this.cache) {
            if ((tile.flags & TILE_GROWING) !== 0) {
                this.cache.delete(key);
                this.bytes -= tile.bytes;
            }
        }
        this.refused.clear();
    }
}
