// keys.ts - what each key does, in one table that the help page shows as well.

export interface Key {
    /** As KeyboardEvent.key; capitals are with shift. */
    keys: readonly string[];
    /** How the help names them, where that is not the keys themselves. */
    label?: string;
    group: "Move" | "Calls" | "Range" | "Page";
    what: string;
    /** Also where a text box or a panel has the focus. */
    everywhere?: boolean;
    run: (event: KeyboardEvent) => void;
}

function isTyping(target: EventTarget | null): boolean {
    return (
        target instanceof HTMLElement &&
        target.matches("input, textarea, select, [contenteditable]")
    );
}

/** Arrows and Enter belong to what has the focus, if that uses them. */
function isTaken(event: KeyboardEvent): boolean {
    const { target } = event;
    if (!(target instanceof HTMLElement) || target.closest("[data-tracks]") !== null) {
        return false;
    }
    const own = target.closest("button, a, [role=tab], [role=option], [data-keys], dialog");
    return (
        own !== null &&
        (/^Arrow|^Page|^Home$|^End$/.test(event.key) || event.key === "Enter" || event.key === " ")
    );
}

/** @life: until when. */
export function followKeys(keys: readonly Key[], life: AbortSignal): void {
    const table = new Map<string, Key>();
    for (const key of keys) {
        for (const name of key.keys) {
            table.set(name, key);
        }
    }
    const follow = (event: KeyboardEvent): void => {
        // What is open above the page has all keys: Escape closes it.
        const isCovered = document.querySelector("dialog[open]") !== null;
        if (event.ctrlKey || event.metaKey || event.defaultPrevented || isCovered) {
            return;
        }
        const name = event.altKey ? `Alt+${event.key}` : event.key;
        const key = table.get(event.shiftKey && name.startsWith("Arrow") ? `Shift+${name}` : name);
        if (
            key === undefined ||
            (key.everywhere !== true && (isTyping(event.target) || isTaken(event)))
        ) {
            return;
        }
        event.preventDefault();
        key.run(event);
    };
    document.addEventListener("keydown", follow, { signal: life });
}
