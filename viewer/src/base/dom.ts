// dom.ts - elements from code. Text goes in as text, never as markup, so a function may be called what it likes.

type Child = Node | string | null | undefined;
type Value = string | number | boolean | null | undefined;

interface Props {
    on?: Partial<{ [K in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[K]) => void }>;
    [attribute: string]: Value | Props["on"];
}

/** An element; true sets an attribute without value, false, null and undefined leave it out. */
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    props: Props = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
        if (name === "on") {
            for (const [event, handler] of Object.entries(value as object)) {
                element.addEventListener(event, handler as EventListener);
            }
        } else if (value !== null && value !== undefined && value !== false) {
            element.setAttribute(name, value === true ? "" : String(value));
        }
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

/** A bidirectional control in a name must not turn the text around it; control characters are shown. */
export function printable(text: string): string {
    return text.replace(
        /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
        (c) => {
            const code = c.codePointAt(0)!;
            return code < 0x20 ? String.fromCodePoint(0x2400 + code) : "\ufffd";
        },
    );
}
