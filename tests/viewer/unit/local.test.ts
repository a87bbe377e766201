import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { LocalEngine, SLOW } from "../../../viewer/src/engine/local";
import type { Told } from "../../../viewer/src/engine/worker";

/** Opens at once; answers /api/trace, fails at /api/trap, leaves everything else unanswered. */
class FakeWorker {
    static made: FakeWorker[] = [];
    static alive(): number {
        return FakeWorker.made.filter((worker) => !worker.isEnded).length;
    }

    onmessage: ((event: { data: Told }) => void) | null = null;
    onerror: ((event: { message: string; preventDefault(): void }) => void) | null = null;
    isEnded = false;

    constructor() {
        FakeWorker.made.push(this);
    }

    postMessage(message: unknown): void {
        if (typeof message !== "string") {
            this.tell({ kind: "open" });
        } else if (message === "/api/trace") {
            this.tell({ kind: "answer", status: 200, bytes: new ArrayBuffer(0) });
        } else if (message === "/api/trap") {
            this.tell({ kind: "failed", message: "unreachable" });
        }
    }

    terminate(): void {
        this.isEnded = true;
    }

    private tell(data: Told): void {
        queueMicrotask(() => {
            if (!this.isEnded) {
                this.onmessage?.({ data });
            }
        });
    }
}

async function open(t: TestContext): Promise<LocalEngine> {
    FakeWorker.made = [];
    Object.assign(globalThis, { window: globalThis, Worker: FakeWorker });
    t.mock.method(URL, "createObjectURL", () => "blob:worker");
    return await LocalEngine.open({} as WebAssembly.Module, []);
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const LONGER_THAN_PATIENCE_MS = 500;

test("a closed engine starts no worker", async (t) => {
    const engine = await open(t);
    const wanted = new AbortController();
    const dropped = assert.rejects(engine.ask("/api/tiles", wanted.signal), { name: "AbortError" });
    wanted.abort();
    engine.close();
    let isSettled = false;
    const settle = (): void => void (isSettled = true);
    engine.ask("/api/trace").then(settle, settle);
    engine.ask("/api/report").then(settle, settle);
    await dropped;
    await wait(LONGER_THAN_PATIENCE_MS);
    assert.equal(FakeWorker.made.length, 1);
    assert.equal(FakeWorker.alive(), 0);
    assert.equal(isSettled, false);
});

test("a request that is dropped after the end starts no worker", async (t) => {
    const engine = await open(t);
    const wanted = new AbortController();
    const dropped = assert.rejects(engine.ask("/api/tiles", wanted.signal), { name: "AbortError" });
    engine.close();
    wanted.abort();
    await dropped;
    await wait(LONGER_THAN_PATIENCE_MS);
    assert.equal(FakeWorker.alive(), 0);
});

test("a broken engine ends its worker and starts none", async (t) => {
    const engine = await open(t);
    const wanted = new AbortController();
    const dropped = assert.rejects(engine.ask("/api/tiles", wanted.signal), { name: "AbortError" });
    wanted.abort();
    FakeWorker.made[0]!.onerror!({ message: "died", preventDefault: () => undefined });
    await dropped;
    await wait(LONGER_THAN_PATIENCE_MS);
    assert.equal(FakeWorker.made.length, 1);
    assert.equal(FakeWorker.alive(), 0);
    await assert.rejects(engine.ask("/api/trace"), { status: 500, message: "died" });
});

test("a module that failed answers nothing more", async (t) => {
    const engine = await open(t);
    const failed = assert.rejects(engine.ask("/api/trap"), { status: 500, message: "unreachable" });
    const next = engine.ask("/api/trace");
    await failed;
    assert.equal((await next).status, 200);
    assert.equal(FakeWorker.made.length, 2);
    assert.equal(FakeWorker.alive(), 1);

    await assert.rejects(engine.ask("/api/trap"));
    assert.equal(FakeWorker.alive(), 0);
    assert.equal((await engine.ask("/api/trace")).status, 200);
    assert.equal(FakeWorker.made.length, 3);
    engine.close();
});

test("a request that has ended leaves nothing on its signal", async (t) => {
    const engine = await open(t);
    const { signal } = new AbortController();
    const listeners = (): number => getEventListeners(signal, "abort").length;
    const answered = engine.ask("/api/trace", signal);
    assert.equal(listeners(), 1);
    await answered;
    assert.equal(listeners(), 0);
    await assert.rejects(engine.ask("/api/trap", signal), { status: 500 });
    assert.equal(listeners(), 0);

    const wanted = new AbortController();
    const dropped = engine.ask("/api/tiles", wanted.signal);
    assert.equal(getEventListeners(wanted.signal, "abort").length, 1);
    wanted.abort();
    await assert.rejects(dropped, { name: "AbortError" });
    assert.equal(getEventListeners(wanted.signal, "abort").length, 0);
    engine.close();
});

test("page and server hold the same requests for slow", () => {
    const source = readFileSync("src/host/viewer/server/workers.c", "utf8");
    const list = /slow\[\] = \{([^}]*)\}/.exec(source)?.[1] ?? "";
    const served = [...list.matchAll(/"([^"]+)"/g)].map((found) => found[1]!);
    assert.ok(served.includes("/api/report"));
    // Statements have workers of their own, in the server only.
    assert.ok(!served.includes("/api/query"));
    assert.deepEqual([...SLOW].sort(), served.sort());
});
