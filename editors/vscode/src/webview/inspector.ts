// What can be done with the selection, as buttons: everything that gestures do, without a mouse.
import type { DrawnTemplate, ElementId, LabelKind, Point, WrittenLabel } from '../protocol';
import { button, h } from './dom';
import { WORDS, offsetOf } from './picture';

/** What the buttons do. */
export interface Deeds {
  edit(label: LabelKind): void;
  /** Moves a label by steps of the grid, or of one. */
  moveLabel(label: LabelKind, steps: Point, fine: boolean): void;
  initial(node: string): void;
  kind(node: string, to: 'normal' | 'urgent' | 'committed'): void;
  edgeFrom(node: string): void;
  reconnect(edge: number, end: 'source' | 'target'): void;
  addNail(edge: number): void;
  remove(): void;
  text(): void;
  rename(): void;
  parameters(): void;
  writeLayout(): void;
}

const OF_LOCATION: LabelKind[] = ['name', 'invariant', 'rate', 'comment'];
const OF_EDGE: LabelKind[] = ['select', 'guard', 'sync', 'update', 'probability', 'comment'];
/** The keys that open the fields. */
export const KEYS: Record<string, LabelKind> = { n: 'name', i: 'invariant', r: 'rate', s: 'select', g: 'guard', c: 'sync', u: 'update', w: 'probability', m: 'comment' };

/** The arrow keys. */
export const WAYS: Record<string, Point> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Whether an element has a label of this kind, empty or not. */
export function hasLabel(template: DrawnTemplate, element: ElementId, label: LabelKind): boolean {
  const node = template.nodes.find((n) => n.id === element);
  return typeof element === 'number' ? OF_EDGE.includes(label) : node !== undefined && node.kind !== 'branchpoint' && OF_LOCATION.includes(label);
}

/** The first label of an element that has a text, else the one that most have. */
export function mainLabel(element: ElementId, texts: WrittenLabel[]): LabelKind {
  if (typeof element === 'string') {
    return 'name';
  }
  const own = texts.filter((t) => t.of === element).map((t) => t.label);
  return OF_EDGE.find((label) => own.includes(label)) ?? 'guard';
}

/** Draws the buttons for what is selected in `template`. */
export function inspect(box: HTMLElement, template: DrawnTemplate | undefined, elements: ElementId[], texts: WrittenLabel[], deeds: Deeds): void {
  const focused = box.contains(document.activeElement) ? document.activeElement?.getAttribute('data-deed') : null;
  box.replaceChildren(...(template === undefined ? [] : parts(template, elements, texts, deeds)));
  if (focused) {
    box.querySelector<HTMLElement>(`[data-deed="${focused}"]`)?.focus();
  }
}

function deed(name: string, text: string, title: string, action: () => void): HTMLButtonElement {
  const element = button(text, title, action);
  element.setAttribute('data-deed', name);
  return element;
}

function parts(template: DrawnTemplate, elements: ElementId[], texts: WrittenLabel[], deeds: Deeds): HTMLElement[] {
  const [element, ...more] = elements;
  const remove = deed('delete', 'Delete', more.length > 0 ? `Delete ${elements.length} elements (Delete)` : 'Delete it (Delete)', deeds.remove);
  if (element === undefined) {
    const out = [
      h('span', { class: 'what' }, `Template ${template.name}`),
      deed('rename', 'Rename…', `Rename the template ${template.name}`, deeds.rename),
      deed('parameters', 'Parameters…', `Parameters of the template ${template.name}`, deeds.parameters),
    ];
    if (offsetOf(template) === null) {
      out.push(deed('layout', 'Write layout to file', 'Write a place for everything to the file; then it can be moved', deeds.writeLayout));
    }
    return out;
  }
  if (more.length > 0) {
    return [h('span', { class: 'what' }, `${elements.length} elements`), remove];
  }
  const label = (kind: LabelKind): HTMLElement => {
    const key = Object.entries(KEYS).find(([, k]) => k === kind)?.[0] ?? '';
    const written = texts.some((t) => t.of === element && t.label === kind);
    const title = `Edit the ${WORDS[kind]} (${key})${written ? '; arrow keys move it' : ''}`;
    const name = deed(kind, WORDS[kind], title, () => deeds.edit(kind));
    name.classList.toggle('written', written);
    name.addEventListener('keydown', (event) => {
      const way = WAYS[event.key];
      if (written && way !== undefined && !event.altKey && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        event.stopPropagation();
        deeds.moveLabel(kind, way, event.shiftKey);
      }
    });
    return name;
  };
  const text = deed('text', 'Text', 'Show it in the text (Enter)', deeds.text);
  if (typeof element === 'number') {
    const edge = template.edges.find((e) => e.id === element);
    const [from, to] = [edge?.source, edge?.target].map((end) => template.nodes[end ?? -1]?.name ?? '');
    const nail = offsetOf(template) === null ? [] : [deed('nail', 'Add nail', 'Add a nail in the middle of the edge', () => deeds.addNail(element))];
    return [
      h('span', { class: 'what' }, `Edge ${from} → ${to}`),
      ...OF_EDGE.map(label),
      deed('source', 'Source…', 'Choose another source: then Tab to a location and Enter', () => deeds.reconnect(element, 'source')),
      deed('target', 'Target…', 'Choose another target: then Tab to a location and Enter', () => deeds.reconnect(element, 'target')),
      ...nail,
      remove,
      text,
    ];
  }
  const node = template.nodes.find((n) => n.id === element);
  const edge = deed('edge', 'Edge from here', 'Draw an edge from here (e): then Tab to where it goes and Enter', () => deeds.edgeFrom(element));
  if (node === undefined || node.kind === 'branchpoint') {
    return [h('span', { class: 'what' }, 'Branchpoint'), edge, remove, text];
  }
  const initial = deed('initial', 'Initial', 'Make it the initial location (o)', () => deeds.initial(element));
  initial.setAttribute('aria-pressed', String(node.initial));
  const options = (['normal', 'urgent', 'committed'] as const).map((kind) => h('option', { value: kind, selected: kind === node.kind }, kind));
  const kind = h('select', { 'aria-label': 'Kind of the location', 'data-deed': 'kind' }, ...options);
  kind.addEventListener('change', () => deeds.kind(element, kind.value as 'normal'));
  return [h('span', { class: 'what' }, node.anonymous ? 'Location without a name' : `Location ${node.name}`), ...OF_LOCATION.map(label), initial, kind, edge, remove, text];
}
