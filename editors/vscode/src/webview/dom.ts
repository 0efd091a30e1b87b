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
  return target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
}
