// flametree.ts - where the nodes of a merged call tree lie in a flame graph. Pure.
import type { Tree, TreeNode } from "../protocol";

/** A node with its place; x and width are shares of the whole. */
export interface Box {
    node: TreeNode;
    index: number;
    depth: number;
    x: number;
    width: number;
    /** -1: none. */
    parent: number;
}

/**
 * Lays the nodes side by side under their parents. Whatever the numbers say, a child stays within its parent, and a node is
 * at most one level below the one before it.
 */
export function layoutTree(tree: Tree): Box[] {
    const boxes: Box[] = [];
    /** The open box of each depth, and how much of its width is taken. */
    const open: { box: Box; taken: number }[] = [];
    const root = { x: 0, width: 1, taken: 0 };
    tree.nodes.forEach((node, index) => {
        const depth = Math.min(Math.max(node[1], 0), open.length);
        open.length = depth;
        const up = open[depth - 1];
        const around = up === undefined ? root : { ...up.box, taken: up.taken };
        const share = tree.total > 0 ? Math.max(node[3], 0) / tree.total : 0;
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
export function sibling(boxes: readonly Box[], at: number, step: 1 | -1): number {
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
