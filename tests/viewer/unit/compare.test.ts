import assert from "node:assert/strict";
import { test } from "node:test";
import * as model from "../../../viewer/src/data/compare";
import { changed, compared, ratioText, valueText } from "../../../viewer/src/panels/comparetext";
import type { Diff, DiffSums } from "../../../viewer/src/engine/protocol";

function diff(): Diff {
    return {
        sides: [],
        rows: [
            [0, 2, 4, 200, 300, 100, 240],
            [1, 0, 1, 0, 50, 0, 50],
            [2, 1, 0, 80, 0, 80, 0],
            [3, 1, 1, 70, 70, 0, 0],
        ],
        more: 0,
        nodes: [
            [3, 0, 1, 1, 70, 70, 0, 0],
            [0, 1, 2, 4, 200, 300, 100, 240],
            [1, 9, 0, 1, 0, 50, 0, 50],
            [2, 1, 1, 0, 80, 0, 80, 0],
        ],
        folded: 0,
        functions: [
            ["Work", null, 0, 5],
            ["fresh", "lib.so a.c", null, 6],
            ["gone", null, 2, null],
            ["main", null, 3, 7],
        ],
    };
}

function item(sums: DiffSums): model.Item {
    return { function: ["f", null, 0, 0], sums, depth: 0, parent: null, node: -1 };
}

function names(state: Partial<model.CompareState>): string {
    const whole = { ...model.COMPARE, ...state };
    const items = model.functionItems(diff()).filter(model.isWanted(whole));
    return model
        .sorted(items, whole)
        .map((each) => each.function[0])
        .join(" ");
}

test("what is measured of both, and how far that is apart", () => {
    const work = model.functionItems(diff())[0]!;
    const measured = (Object.keys(model.MEASURES) as model.Measure[]).map((measure) => [
        model.value(work, measure, 0),
        model.value(work, measure, 1),
        model.change(work, measure),
        model.ratio(work, measure),
    ]);
    assert.deepEqual(measured, [
        [100, 240, 140, 2.4],
        [200, 300, 100, 1.5],
        [50, 60, 10, 1.2],
        [100, 75, -25, 0.75],
        [2, 4, 2, 2],
    ]);
});

test("what was not called took no time, and its calls cannot be compared", () => {
    const fresh = item([0, 2, 0, 50, 0, 30]);
    assert.equal(model.value(fresh, "self", 0), null);
    assert.equal(model.change(fresh, "self"), 30);
    assert.equal(model.change(fresh, "self-per-call"), null);
    assert.equal(model.ratio(fresh, "self"), Infinity);
    const gone = item([2, 0, 50, 0, 30, 0]);
    assert.equal(model.change(gone, "total"), -50);
    assert.equal(model.ratio(gone, "total"), 0);
    assert.equal(model.ratio(item([1, 1, 5, 5, 0, 0]), "self"), 1);
});

test("order and choice", () => {
    assert.equal(names({}), "Work gone fresh main");
    assert.equal(names({ sort: "ratio" }), "gone fresh Work main");
    assert.equal(names({ sort: "name" }), "fresh gone main Work");
    assert.equal(names({ sort: "calls-b" }), "Work fresh main gone");
    assert.equal(names({ measure: "self-per-call" }), "Work main fresh gone");
    assert.equal(names({ kind: "slower" }), "Work fresh");
    assert.equal(names({ kind: "faster" }), "gone");
    assert.equal(names({ kind: "new" }), "fresh");
    assert.equal(names({ kind: "gone" }), "gone");
    assert.equal(names({ filter: "wo" }), "Work");
    assert.equal(names({ filter: "?o*" }), "Work gone");
    assert.equal(names({ filter: "/^[fg]/" }), "gone fresh");
    assert.equal(names({ filter: "/(/" }), "", "no regular expression fits nothing");
});

test("paths know what is above them, whatever the depths say", () => {
    const paths = model.pathItems(diff());
    assert.deepEqual(
        paths.map((path) => path.parent?.function[0] ?? null),
        [null, "main", "Work", "main"],
    );
    assert.deepEqual(
        paths.map((path) => path.depth),
        [0, 1, 2, 1],
    );
});

test("differences as text", () => {
    const [work, fresh, gone, main] = model.functionItems(diff()) as [
        model.Item,
        model.Item,
        model.Item,
        model.Item,
    ];
    assert.equal(changed(work, "self"), "+140 ns");
    assert.equal(changed(work, "total-per-call"), "−25 ns");
    assert.equal(changed(main, "self"), "±0 ns");
    assert.equal(changed(fresh, "self-per-call"), "-");
    assert.equal(valueText(gone, "self", 1), "-");
    assert.equal(ratioText(work, "self"), "2.40×");
    assert.equal(ratioText(item([1, 1, 0, 9, 0, 9]), "self"), "from 0");
    assert.equal(ratioText(item([1, 1, 1, 123456, 1, 1]), "total"), "123,456×");
    assert.equal(ratioText(item([1, 1, 1000, 4, 1, 1]), "total"), "0.004×");
    assert.equal(compared(work, "calls"), "2 to 4 (+2, 2.00×)");
    assert.equal(compared(fresh, "self"), "50 ns, only in B");
    assert.equal(compared(gone, "self"), "80 ns, only in A");
    assert.equal(compared(main, "total"), "70 ns in both");
});

test("a state goes through an address and back", () => {
    const state: model.CompareState = {
        view: "flame",
        measure: "calls",
        kind: "slower",
        sort: "ratio",
        filter: "a&b=#?",
        width: "a",
        zoom: 17,
        against: "whole",
    };
    const words = new URLSearchParams(model.writeCompare(state)).toString();
    assert.deepEqual(model.readCompare(new URLSearchParams(words)), state);
    assert.deepEqual(model.writeCompare({ ...model.COMPARE }), {});
    assert.deepEqual(model.readCompare(new URLSearchParams("")), model.COMPARE);
    const odd = "compare=x&compare-measure=toString&compare-zoom=-4&compare-sort=constructor";
    assert.deepEqual(model.readCompare(new URLSearchParams(odd)), model.COMPARE);
});
