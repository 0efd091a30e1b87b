// Small helpers to build the panels' pages. Styles are classes only: the content security policy forbids inline ones.

declare function acquireVsCodeApi(): { postMessage(message: unknown): void; getState(): unknown; setState(state: unknown): void };

/** The connection to the extension. */
export const host = acquireVsCodeApi();

type Attributes = Record<string, string | number | boolean | undefined>;

function fill<E extends Element>(element: E, attributes: Attributes, children: (Node | string)[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  element.append(...children);
  return element;
}

/** An element of the page. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

/** A button with a label for screen readers and tooltips. */
export function button(text: string, title: string, action: () => void): HTMLButtonElement {
  const element = h('button', { type: 'button', title, 'aria-label': title }, text);
  element.addEventListener('click', action);
  return element;
}

/** The root element of the page. */
export function app(): HTMLElement {
  const element = document.getElementById('app');
  if (element === null) {
    throw new Error('the page has no #app');
  }
  return element;
}

/** Whether the focused element handles keys itself: a text field, a selection list. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}

const collator = new Intl.Collator('en', { numeric: true });

/** The names of an object with their values, in the order of people: `P(2)` before `P(10)`. */
export function sorted<V>(values: Record<string, V>): [string, V][] {
  return Object.entries(values).sort(([a], [b]) => collator.compare(a, b));
}

/** The choice of processes that are shown, in `element`; `choose` gets those that are hidden. */
export function processFilter(element: HTMLDetailsElement, locations: Record<string, string>, hidden: string[], choose: (hidden: string[]) => void): void {
  const box = (process: string): HTMLElement => {
    const check = h('input', { type: 'checkbox', checked: !hidden.includes(process) });
    check.addEventListener('change', () => choose(check.checked ? hidden.filter((p) => p !== process) : [...hidden, process]));
    return h('label', {}, check, process);
  };
  const processes = sorted(locations).map(([process]) => process);
  const key = JSON.stringify([processes, hidden]);
  if (element.dataset.shown !== key) {
    element.dataset.shown = key;
    const word = hidden.length === 0 ? 'all' : `${processes.length - hidden.length} of ${processes.length}`;
    element.replaceChildren(h('summary', {}, `Processes: ${word}`), h('div', { class: 'choices' }, ...processes.map(box)));
  }
}

/** Scrolls the list that an element is in, never the whole page: what the user looks at stays where it is. */
export function keepInView(element: Element | null): void {
  for (let box = element?.parentElement; element && box && box !== document.body; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight + 1 && getComputedStyle(box).overflowY === 'auto') {
      const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
      box.scrollTop += Math.min(0, inner.top - outer.top) + Math.max(0, inner.bottom - outer.bottom);
      return;
    }
  }
}
