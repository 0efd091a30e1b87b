// The handles of the selected edge: its ends, its nails, and the middles between them, which become nails.
import type { DrawnEdge, DrawnTemplate, Gesture, Point } from '../protocol';
import { s } from './dom';
import { WAYS } from './inspector';
import { edgeLine, offsetOf } from './picture';
import { Selection, groupOf } from './selection';

interface Actions {
  perform(template: string, gesture: Gesture): void;
  say(words: string): void;
  snapped(at: Point, free: boolean): Point;
  reconnect(edge: number, end: 'source' | 'target'): void;
}

/** Shows the handles of the edge that alone is selected. */
export function showHandles(sheets: Element, template: DrawnTemplate | undefined, selection: Selection, editable: boolean, actions: Actions): void {
  const old = sheets.querySelector('g.handles');
  const focused = old?.contains(document.activeElement) ? document.activeElement?.getAttribute('aria-label') : null;
  old?.remove();
  const edge = template?.edges.find((e) => e.id === selection.only);
  const group = edge && template && groupOf(sheets, template.name, edge.id);
  if (!editable || !template || !edge || !group) {
    return;
  }
  const handles = s('g', { class: 'handles' }, ...ends(template, edge, group, actions), ...nails(template, edge, actions));
  group.closest('svg')?.append(handles);
  if (focused) {
    [...handles.querySelectorAll<SVGElement>('.handle')].find((h) => h.getAttribute('aria-label') === focused)?.focus({ preventScroll: true });
  }
}

function handle(kind: string, [cx, cy]: Point, name: string, attributes: Record<string, string | number>, onKey: (event: KeyboardEvent) => boolean): SVGElement {
  const element = s('circle', { class: `handle ${kind}`, cx, cy, r: kind === 'new' ? 3.5 : 5, tabindex: 0, role: 'button', 'aria-label': name, ...attributes });
  element.addEventListener('keydown', (event) => {
    if (!event.ctrlKey && !event.altKey && !event.metaKey && onKey(event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
  return element;
}

function ends(template: DrawnTemplate, edge: DrawnEdge, group: Element, actions: Actions): SVGElement[] {
  const path = group.querySelector('path');
  const tip = edge.arrow.split(' ')[0]?.split(',').map(Number) ?? [];
  if (path === null) {
    return [];
  }
  const first = path.getPointAtLength(0);
  return (['source', 'target'] as const).map((end) => {
    const at: Point = end === 'source' ? [first.x, first.y] : [tip[0] ?? 0, tip[1] ?? 0];
    const name = template.nodes[edge[end]]?.name ?? '';
    return handle('end', at, `The ${end} of the edge, now ${name}: drag it, or press Enter`, { 'data-end': end }, (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') {
        return false;
      }
      actions.reconnect(edge.id, end);
      return true;
    });
  });
}

function nails(template: DrawnTemplate, edge: DrawnEdge, actions: Actions): SVGElement[] {
  const offset = offsetOf(template);
  const line = edgeLine(template, edge);
  if (offset === null || (edge.source === edge.target && edge.nails.length === 0)) {
    return [];
  }
  const inFile = ([x, y]: Point): Point => [x - offset.x, y - offset.y];
  const own = edge.nails.map((at, nail) =>
    handle('nail', at, `Nail ${nail + 1} of ${edge.nails.length}: arrow keys move it, Delete removes it`, { 'data-nail': nail }, (event) => {
      const way = WAYS[event.key];
      if (event.key === 'Delete' || event.key === 'Backspace') {
        actions.perform(template.name, { kind: 'removeNail', edge: edge.id, nail });
        return true;
      }
      if (way === undefined) {
        return false;
      }
      const unit = event.shiftKey ? 1 : 17;
      const [x, y] = inFile(at);
      actions.perform(template.name, { kind: 'moveNail', edge: edge.id, nail, to: [Math.round(x + way[0] * unit), Math.round(y + way[1] * unit)] });
      return true;
    }),
  );
  const between = line.slice(1).map((to, nail) => {
    const from = line[nail] ?? to;
    const at: Point = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
    return handle('new', at, `A new nail here: drag it, or press Enter`, { 'data-nail': nail }, (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') {
        return false;
      }
      actions.perform(template.name, { kind: 'addNail', edge: edge.id, nail, at: actions.snapped(inFile(at), false) });
      return true;
    });
  });
  return [...between, ...own];
}
