// flame.ts - the calls of the selection merged by their callers, the heaviest on the left.
import type { State } from "../data/state";
import type { Tree, TreeNode } from "../engine/protocol";
import * as units from "../base/units";
import { FlameGraph, type FlameContent } from "./flamegraph";
import type { Panel } from "./host";
import { noCalls } from "./parts";

const NODES = 8000;

export class FlamePanel implements Panel {
    readonly id = "flame";
    readonly title = "Flame graph";
    readonly topics = ["selection", "functions", "theme", "search", "trace"] as const;
    readonly element: HTMLElement;
    private readonly graph: FlameGraph<TreeNode>;
    private tree: Tree | null = null;
    private shown = "";

    constructor(private readonly app: State) {
        this.graph = new FlameGraph("flame", "Merged calls, heaviest first", () => app.theme);
        this.element = this.graph.element;
    }

    async update(signal: AbortSignal): Promise<void> {
        const { app } = this;
        const query = { ...app.selectionQuery, limit: NODES };
        const key = JSON.stringify([query, app.trace.end]);
        const isFresh = key !== this.shown || this.tree === null;
        if (key !== this.shown || this.tree === null) {
            this.tree = await app.ask<Tree>("tree", query, signal);
            this.shown = key;
        }
        this.graph.show(this.content(this.tree), isFresh);
    }

    resized(): void {
        this.graph.resized();
    }

    private content(tree: Tree): FlameContent<TreeNode> {
        const { functions, found } = this.app;
        const folded =
            tree.folded === 0
                ? ""
                : tree.folded === 1
                  ? " 1 light branch is folded."
                  : ` ${units.count(tree.folded)} light branches are folded.`;
        return {
            nodes: tree.nodes,
            total: tree.total,
            depth: (node) => node[1],
            weight: (node) => node[3],
            name: ([id]) => functions.name(id),
            fill: ([id]) =>
                found !== null && (id === null || found.flags[id] !== 1) ? null : functions.rgb(id),
            facts: ([, , calls, total, self]) => [
                `${units.time(total)} (${units.share(total, tree.total)})`,
                `self ${units.time(self)}`,
                units.several(calls, "call"),
            ],
            about:
                tree.nodes.length === 0
                    ? ""
                    : `${units.time(tree.total)} in calls. Click a call to zoom in.${folded}`,
            empty: noCalls(this.app),
            columns: ["Function", "Total", "Self", "Calls"],
            cells: ([, , calls, total, self]) => [
                units.time(total),
                units.time(self),
                units.count(calls),
            ],
        };
    }
}
