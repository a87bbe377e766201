import assert from "node:assert/strict";
import { test } from "node:test";
import { keep, OpenOrder } from "../../../viewer/src/page/open_order";

function later<T>(): { promise: Promise<T>; resolve(value: T): void; reject(error: Error): void } {
    let resolve!: (value: T) => void;
    let reject!: (error: Error) => void;
    const promise = new Promise<T>((yes, no) => {
        resolve = yes;
        reject = no;
    });
    return { promise, resolve, reject };
}

class Shelf {
    readonly turns = new OpenOrder();
    shown = "";
    readonly closed: string[] = [];

    take(open: Promise<string>, ask: Promise<void> = Promise.resolve()): Promise<void> {
        return this.turns.take({
            open: () => open,
            ask: () => ask,
            show: (name) => void (this.shown = name),
            close: (name) => void this.closed.push(name),
        });
    }
}

test("what is asked for last stays, and the other is closed", async () => {
    const shelf = new Shelf();
    const slow = later<string>();
    const first = shelf.take(slow.promise);
    await shelf.take(Promise.resolve("second"));
    slow.resolve("first");
    await first;
    assert.equal(shelf.shown, "second");
    assert.deepEqual(shelf.closed, ["first"]);
});

test("what was overtaken fails without a word", async () => {
    const shelf = new Shelf();
    const slow = later<string>();
    const first = shelf.take(slow.promise);
    await shelf.take(Promise.resolve("second"));
    slow.reject(new Error("no trace"));
    await first;
    assert.equal(shelf.shown, "second");
});

test("one that cannot be shown is closed, and what came before it is shown", async () => {
    const shelf = new Shelf();
    const slow = later<string>();
    const first = shelf.take(slow.promise);
    await assert.rejects(shelf.take(Promise.resolve("second"), Promise.reject(new Error("bad"))), {
        message: "bad",
    });
    assert.deepEqual(shelf.closed, ["second"]);
    slow.resolve("first");
    await first;
    assert.equal(shelf.shown, "first");
});

test("what could not be made is made anew, what was made is kept", async () => {
    let count = 0;
    const get = keep(async () => {
        count++;
        if (count === 1) {
            throw new Error("the server has ended");
        }
        return count;
    });
    await assert.rejects(get());
    assert.equal(await get(), 2);
    assert.equal(await get(), 2);
});
