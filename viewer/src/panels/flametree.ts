// flametree.ts - where the nodes of a merged call tree lie in a flame graph. Pure.

/** A node with its place; x and width are shares of the whole. */
export interface Box<N> {
    node: N;
    index: number;
    depth: number;
    x: number;
    width: number;
    /** -1: none. */
    parent: number;
}

/** A merged call tree, depth first, and how its nodes are measured. */
export interface Nodes<N> {
    nodes: readonly N[];
    total: number;
    depth(node: N): number;
    weight(node: N): number;
}

/**
 * Lays the nodes side by side under their parents. Whatever the numbers say, a child stays within its parent, and a node is
 * at most one level below the one before it.
 */
export function layoutTree<N>(tree: Nodes<N>): Box<N>[] {
    const boxes: Box<N>[] = [];
    /** The open box of each depth, and how much of its width is taken. */
    const open: { box: Box<N>; taken: number }[] = [];
    const root = { x: 0, width: 1, taken: 0 };
    tree.nodes.forEach((node, index) => {
        const depth = Math.min(Math.max(tree.depth(node), 0), open.length);
        open.length = depth;
        const up = open[depth - 1];
        const around = up === undefined ? root : { ...up.box, taken: up.taken };
        const share = tree.total > 0 ? Math.max(tree.weight(node), 0) / tree.total : 0;
        const width = Math.min(share, Math.max(around.width - around.taken, 0));
        const box = {
            node,
            index,
            depth,
            x: around.x + around.taken,
            width,
            parent: up === undefined ? -1 : up.box.index,
        };
        (up ?? root).taken += width;
        boxes.push(box);
        open.push({ box, taken: 0 });
    });
    return boxes;
}

/** The next box under the same parent in a direction; @at itself if there is none. */
export function sibling(boxes: readonly Box<unknown>[], at: number, step: 1 | -1): number {
    const box = boxes[at]!;
    for (let i = at + step; i >= 0 && i < boxes.length; i += step) {
        const other = boxes[i]!;
        if (other.depth < box.depth) {
            return at;
        }
        if (other.depth === box.depth) {
            return i;
        }
    }
    return at;
}
