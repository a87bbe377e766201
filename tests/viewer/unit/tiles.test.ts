import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Engine } from "../../../viewer/src/engine/engine";
import { planRequests, tileKey, Tiles, zoomFor } from "../../../viewer/src/data/tiles";
import { tileBytes } from "./bytes";

test("the zoom gives a column a pixel or two", () => {
    for (const nsPerPixel of [0.01, 0.5, 1, 3, 1000, 1e6, 7.7e9]) {
        const column = 2 ** zoomFor(nsPerPixel) / 1024;
        assert.ok(column <= nsPerPixel * 1.000001 || zoomFor(nsPerPixel) === 0);
        assert.ok(column > nsPerPixel / 2);
    }
    assert.equal(zoomFor(1e300), 62);
    assert.equal(zoomFor(1e-300), 0);
});

test("wants become few requests of at most 64 tiles, and none is forgotten", () => {
    const wants = [];
    for (let thread = 0; thread < 30; thread++) {
        for (const index of [4, 5, 6, 7, 9]) {
            wants.push({ thread, block: 0, zoom: 12, index });
        }
    }
    wants.push({ thread: 0, block: 1, zoom: 12, index: 4 });
    const requests = planRequests(wants);
    const keys = new Set<string>();
    for (const request of requests) {
        assert.ok(request.count * request.threads.length <= 64);
        assert.equal(request.keys.length, request.count * request.threads.length);
        request.keys.forEach((key) => keys.add(key));
    }
    assert.equal(keys.size, wants.length);
    for (const want of wants) {
        assert.ok(keys.has(tileKey(want.thread, want.block, want.zoom, want.index)));
    }
    assert.ok(requests.length <= 5, `${requests.length} requests`);
});

/** Answers every request with empty tiles, but only when told. */
class SlowEngine implements Engine {
    asked: {
        path: URLSearchParams;
        answer: () => void;
        signal: AbortSignal | undefined;
    }[] = [];

    ask(path: string, signal?: AbortSignal): Promise<Answer> {
        return new Promise((resolve, reject) => {
            const query = new URLSearchParams(path.slice(path.indexOf("?")));
            signal?.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
            this.asked.push({
                path: query,
                signal,
                answer: () => resolve({ status: 200, bytes: emptyTiles(query) }),
            });
        });
    }
}

function emptyTiles(query: URLSearchParams): ArrayBuffer {
    const parts: Uint8Array[] = [];
    for (const thread of query.get("threads")!.split(",")) {
        for (let number = 0; number < Number(query.get("count")); number++) {
            parts.push(new Uint8Array(tileBytes({ thread: Number(thread), number, spans: [] })));
        }
    }
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    return all.buffer;
}

async function settle(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 5));
}

test("what is missing is painted from a coarser tile until it comes", async () => {
    const engine = new SlowEngine();
    const tiles = new Tiles(
        engine,
        () => undefined,
        () => undefined,
        assert.fail,
    );
    const frame = (zoom: number, from: number, to: number) => {
        tiles.begin();
        const pieces = tiles.pieces(0, 0, zoom, from, to);
        tiles.end();
        return pieces;
    };
    assert.deepEqual(frame(20, 0, 2 ** 20), []);
    assert.equal(engine.asked.length, 1);
    frame(20, 0, 2 ** 20);
    assert.equal(engine.asked.length, 1, "what is under way is not asked again");
    engine.asked[0]!.answer();
    await settle();
    assert.equal(frame(20, 0, 2 ** 20)[0]!.zoom, 20);

    const stale = frame(18, 2 ** 18, 2 ** 19);
    assert.equal(stale.length, 1);
    assert.deepEqual([stale[0]!.zoom, stale[0]!.from, stale[0]!.to], [20, 2 ** 18, 2 ** 19]);
    engine.asked[1]!.answer();
    await settle();
    assert.equal(frame(18, 2 ** 18, 2 ** 19)[0]!.zoom, 18);
});

test("requests that nobody wants any more make room for those that are wanted", async () => {
    const engine = new SlowEngine();
    const tiles = new Tiles(
        engine,
        () => undefined,
        () => undefined,
        assert.fail,
    );
    for (let i = 0; i < 12; i++) {
        tiles.begin();
        tiles.pieces(0, 0, 20, i * 2 ** 21, i * 2 ** 21 + 1000);
        tiles.end();
    }
    const open = engine.asked.filter((one) => one.signal?.aborted === false);
    assert.ok(open.length <= 4);
    assert.equal(open.at(-1)!.path.get("first"), "22", "the last one wanted is under way");
    open.forEach((one) => one.answer());
    await settle();
});

test("a tile that is refused is not asked for ever", async () => {
    const failures: unknown[] = [];
    let asked = 0;
    const engine: Engine = {
        ask: () => {
            asked++;
            return Promise.resolve({ status: 200, bytes: new ArrayBuffer(7) });
        },
    };
    const tiles = new Tiles(
        engine,
        () => undefined,
        () => undefined,
        (error) => failures.push(error),
    );
    for (let i = 0; i < 5; i++) {
        tiles.begin();
        tiles.pieces(0, 0, 20, 0, 1000);
        tiles.end();
        await settle();
    }
    assert.equal(asked, 1);
    assert.equal(failures.length, 1);
});
