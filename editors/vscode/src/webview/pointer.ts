// Gestures with mouse, pen and fingers. A gesture previews in the page; only the drop is sent.
import type { DrawnEdge, DrawnNode, DrawnTemplate, ElementId, Gesture, LabelKind, Point } from '../protocol';
import { s } from './dom';
import { arrow, border, cornerOf, edgeLine, nailNumber, offsetOf, straight } from './picture';
import { Selection, elementOf, groupOf } from './selection';

/** What the pointer does. */
export type Tool = 'select' | 'location' | 'branchpoint' | 'edge';

/** What gestures need from the page. */
export interface Hands {
  readonly canvas: HTMLElement;
  readonly selection: Selection;
  tool(): Tool;
  template(name: string): DrawnTemplate | undefined;
  /** Says why a gesture is not possible now; `places` if it needs coordinates in the file. Returns whether it is. */
  may(template: DrawnTemplate, places: boolean): boolean;
  /** The nearest place of the grid, in coordinates of the file. */
  snapped(at: Point, free: boolean): Point;
  perform(template: string, gesture: Gesture): void;
  addEdge(template: string, source: string, target: string, nails: Point[]): void;
  /** A click, or the like, on an element. */
  activate(group: Element, event: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): void;
  edit(template: string, element: ElementId, label?: LabelKind): void;
  zoomBy(factor: number, at: { x: number; y: number }): void;
  say(words: string): void;
}

/** A gesture that has begun. */
interface Drag {
  pointer: number;
  svg: SVGSVGElement;
  from: { x: number; y: number };
  moved: boolean;
  move?(at: Point, event: PointerEvent): void;
  drop?(at: Point, event: PointerEvent): void;
  click?(at: Point, event: PointerEvent): void;
  /** Takes the preview back. */
  undo?(): void;
}

/** An edge that is being drawn. */
interface Link {
  svg: SVGSVGElement;
  template: DrawnTemplate;
  source: DrawnNode;
  nails: Point[];
  preview: SVGElement;
}

/** A shorter way is a click. */
const THRESHOLD = 4;

export class Pointer {
  private drag: Drag | undefined;
  private link: Link | undefined;
  private readonly fingers = new Map<number, { x: number; y: number }>();
  /** Whether the space bar is held: then the picture is moved as a whole. */
  panning = false;

  constructor(private readonly hands: Hands) {
    const { canvas } = hands;
    canvas.addEventListener('pointerdown', (event) => this.onDown(event));
    canvas.addEventListener('pointermove', (event) => this.onMove(event));
    canvas.addEventListener('pointerup', (event) => this.onUp(event));
    canvas.addEventListener('pointercancel', (event) => {
      this.fingers.delete(event.pointerId);
      this.cancel();
    });
    canvas.addEventListener('dblclick', (event) => this.onDouble(event));
    canvas.addEventListener('wheel', (event) => this.onWheel(event), { passive: false });
  }

  /** Whether something has begun that Escape ends. */
  get isBusy(): boolean {
    return this.drag?.moved === true || this.link !== undefined;
  }

  /** Ends what has begun, without an effect. */
  cancel(): void {
    const { drag } = this;
    this.drag = undefined;
    drag?.undo?.();
    this.link?.preview.remove();
    this.link = undefined;
  }

  // ------------------------------------------------------------------------------------------- events

  private onDown(event: PointerEvent): void {
    if (event.target instanceof Element && event.target.closest('.text-field') !== null) {
      return;
    }
    if (event.pointerType === 'touch') {
      this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (this.fingers.size > 1) {
        this.cancel();
        return;
      }
    }
    const svg = event.target instanceof Element ? event.target.closest<SVGSVGElement>('svg[data-template]') : null;
    if (event.button === 1 || (event.button === 0 && this.panning)) {
      event.preventDefault();
      this.pan(event);
    } else if (event.button === 0 && svg !== null && this.drag === undefined) {
      this.begin(svg, event);
    }
  }

  private begin(svg: SVGSVGElement, event: PointerEvent): void {
    const { hands } = this;
    const template = hands.template(svg.getAttribute('data-template') ?? '');
    if (template === undefined) {
      return;
    }
    const start = { pointer: event.pointerId, svg, from: { x: event.clientX, y: event.clientY }, moved: false };
    const target = event.target as Element;
    const found = elementOf(target);
    const handle = target.closest('.handle');
    const tool = hands.tool();
    if (tool === 'edge') {
      this.drag = { ...start, ...this.linking(svg, template, found?.element, event) };
    } else if (tool !== 'select' && found === undefined && handle === null) {
      const kind = tool === 'location' ? 'addLocation' : 'addBranchpoint';
      this.drag = { ...start, click: (at, e) => hands.may(template, true) && hands.perform(template.name, { kind, at: this.inFile(template, at, e) }) };
    } else if (handle !== null) {
      this.drag = { ...start, ...this.handling(svg, template, handle) };
    } else if (found !== undefined) {
      const label = target.closest<SVGTextElement>('text.label');
      const edge = template.edges.find((e) => e.id === found.element);
      const how = label !== null ? this.labelling(svg, template, found.element, label, event) : edge !== undefined ? this.bending(svg, template, edge, event) : this.moving(svg, template, found.element, event);
      this.drag = { ...start, ...how, click: (_, e) => hands.activate(found.group, e) };
    } else {
      this.drag = { ...start, ...this.band(svg, template, event) };
    }
  }

  private onMove(event: PointerEvent): void {
    if (this.fingers.has(event.pointerId)) {
      this.pinch(event);
    }
    const { drag, link } = this;
    if (link !== undefined) {
      this.stretch(link, this.inPicture(link.svg, event));
    }
    if (drag === undefined || drag.pointer !== event.pointerId) {
      return;
    }
    if (!drag.moved && Math.hypot(event.clientX - drag.from.x, event.clientY - drag.from.y) > THRESHOLD) {
      drag.moved = true;
      drag.svg.setPointerCapture(event.pointerId);
    }
    if (drag.moved) {
      drag.move?.(this.inPicture(drag.svg, event), event);
    }
  }

  private onUp(event: PointerEvent): void {
    this.fingers.delete(event.pointerId);
    const { drag } = this;
    if (drag === undefined || drag.pointer !== event.pointerId) {
      return;
    }
    this.drag = undefined;
    const at = this.inPicture(drag.svg, event);
    if (drag.moved) {
      drag.drop?.(at, event);
    } else {
      drag.click?.(at, event);
    }
  }

  private onDouble(event: MouseEvent): void {
    const { hands } = this;
    const target = event.target as Element;
    const svg = target.closest<SVGSVGElement>('svg[data-template]');
    const template = hands.template(svg?.getAttribute('data-template') ?? '');
    if (hands.tool() !== 'select' || svg === null || template === undefined) {
      return;
    }
    const nail = target.closest('.handle.nail');
    const found = elementOf(target);
    const edge = hands.selection.only;
    if (nail !== null && typeof edge === 'number') {
      hands.perform(template.name, { kind: 'removeNail', edge, nail: Number(nail.getAttribute('data-nail')) });
    } else if (found !== undefined) {
      hands.edit(template.name, found.element, (target.closest('text.label')?.getAttribute('data-label') ?? undefined) as LabelKind | undefined);
    } else if (target === svg && hands.may(template, true)) {
      hands.perform(template.name, { kind: 'addLocation', at: this.inFile(template, this.inPicture(svg, event), event) });
    }
  }

  private onWheel(event: WheelEvent): void {
    // A pinch on a touch pad is a turn of the wheel with this key.
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.hands.zoomBy(Math.exp(-event.deltaY * (event.deltaMode === 0 ? 0.003 : 0.1)), { x: event.clientX, y: event.clientY });
    }
  }

  private pinch(event: PointerEvent): void {
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const after = [...this.fingers.values()];
    const [a, b] = before;
    const [c, d] = after;
    if (a && b && c && d) {
      const middle = { x: (c.x + d.x) / 2, y: (c.y + d.y) / 2 };
      this.hands.canvas.scrollBy((a.x + b.x) / 2 - middle.x, (a.y + b.y) / 2 - middle.y);
      this.hands.zoomBy(Math.hypot(c.x - d.x, c.y - d.y) / Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)), middle);
    }
  }

  private pan(event: PointerEvent): void {
    const { canvas } = this.hands;
    let last = { x: event.clientX, y: event.clientY };
    const move = (e: PointerEvent): void => {
      canvas.scrollBy(last.x - e.clientX, last.y - e.clientY);
      last = { x: e.clientX, y: e.clientY };
    };
    const end = (): void => {
      canvas.removeEventListener('pointermove', move);
      canvas.removeEventListener('pointerup', end);
      canvas.removeEventListener('pointercancel', end);
    };
    canvas.setPointerCapture(event.pointerId);
    canvas.addEventListener('pointermove', move);
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
  }

  // -------------------------------------------------------------------------------------------- places

  private inPicture(svg: SVGSVGElement, event: MouseEvent): Point {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM()?.inverse());
    return [x, y];
  }

  private inFile(template: DrawnTemplate, [x, y]: Point, event: MouseEvent): Point {
    const offset = offsetOf(template) ?? { x: 0, y: 0 };
    return this.hands.snapped([x - offset.x, y - offset.y], event.altKey);
  }

  /** A place in the picture that is on the grid of the file. */
  private onGrid(template: DrawnTemplate, at: Point, event: MouseEvent): Point {
    const offset = offsetOf(template) ?? { x: 0, y: 0 };
    const [x, y] = this.inFile(template, at, event);
    return [x + offset.x, y + offset.y];
  }

  private nodeUnder(svg: SVGSVGElement, template: DrawnTemplate, event: MouseEvent): DrawnNode | undefined {
    // Under the pointer there may be what is dragged, or a label.
    const all = document.elementsFromPoint(event.clientX, event.clientY).map(elementOf);
    const found = all.find((one) => typeof one?.element === 'string' && one.group.closest('svg') === svg);
    return template.nodes.find((n) => n.id === found?.element);
  }

  // ------------------------------------------------------------------------------------------- gestures

  /** Moves the selected nodes; one that is not selected is selected first. */
  private moving(svg: SVGSVGElement, template: DrawnTemplate, element: ElementId, down: PointerEvent): Partial<Drag> {
    const { hands } = this;
    const start = this.inPicture(svg, down);
    const node = template.nodes.find((n) => n.id === element);
    if (node === undefined) {
      return {};
    }
    let may: boolean | undefined;
    let by: Point = [0, 0];
    const names = (): Set<string> => new Set(hands.selection.nodes);
    return {
      move: (at, event) => {
        if (may === undefined) {
          if (!hands.selection.has(template.name, element)) {
            hands.selection.set(template.name, [element]);
          }
          may = hands.may(template, true);
        }
        if (may) {
          const [x, y] = this.onGrid(template, [node.x + at[0] - start[0], node.y + at[1] - start[1]], event);
          by = [x - node.x, y - node.y];
          showMoved(svg, template, names(), by);
        }
      },
      drop: () => {
        if (by[0] !== 0 || by[1] !== 0) {
          hands.perform(template.name, { kind: 'move', nodes: [...names()], by: [Math.round(by[0]), Math.round(by[1])] });
        }
      },
      undo: () => showMoved(svg, template, names(), [0, 0]),
    };
  }

  private labelling(svg: SVGSVGElement, template: DrawnTemplate, of: ElementId, label: SVGTextElement, down: PointerEvent): Partial<Drag> {
    const { hands } = this;
    const start = this.inPicture(svg, down);
    const kind = label.getAttribute('data-label') as LabelKind;
    const corner = cornerOf(label);
    let may: boolean | undefined;
    let by: Point = [0, 0];
    return {
      move: (at) => {
        may ??= hands.may(template, true);
        if (may) {
          by = [at[0] - start[0], at[1] - start[1]];
          label.setAttribute('transform', `translate(${by[0]} ${by[1]})`);
        }
      },
      drop: () => {
        const offset = offsetOf(template);
        if (may && offset !== null) {
          const to: Point = [Math.round(corner[0] + by[0] - offset.x), Math.round(corner[1] + by[1] - offset.y)];
          hands.perform(template.name, { kind: 'moveLabel', of, label: kind, to });
        }
      },
      undo: () => label.removeAttribute('transform'),
    };
  }

  /** Pulls a new nail out of the line of an edge. */
  private bending(svg: SVGSVGElement, template: DrawnTemplate, edge: DrawnEdge, event: PointerEvent): Partial<Drag> {
    const { hands } = this;
    const line = edgeLine(template, edge);
    const nail = nailNumber(line, this.inPicture(svg, event));
    let may: boolean | undefined;
    return {
      move: (at, e) => {
        may ??= hands.may(template, true);
        if (may) {
          hands.selection.set(template.name, [edge.id]);
          const place = this.onGrid(template, at, e);
          showLine(svg, template, edge, [...line.slice(0, nail + 1), place, ...line.slice(nail + 1)]);
        }
      },
      drop: (at, e) => {
        if (may) {
          hands.perform(template.name, { kind: 'addNail', edge: edge.id, nail, at: this.inFile(template, at, e) });
        }
      },
      undo: () => showLine(svg, template, edge, undefined),
    };
  }

  /** Drags a nail, the middle between two, or an end of the selected edge. */
  private handling(svg: SVGSVGElement, template: DrawnTemplate, handle: Element): Partial<Drag> {
    const { hands } = this;
    const edge = template.edges.find((e) => e.id === hands.selection.only);
    if (edge === undefined) {
      return {};
    }
    const line = edgeLine(template, edge);
    const end = handle.getAttribute('data-end') as 'source' | 'target' | null;
    const nail = Number(handle.getAttribute('data-nail'));
    const isNew = handle.classList.contains('new');
    const with_ = (place: Point): Point[] => {
      if (end !== null) {
        return end === 'source' ? [place, ...line.slice(1)] : [...line.slice(0, -1), place];
      }
      return [...line.slice(0, nail + 1), place, ...line.slice(isNew ? nail + 1 : nail + 2)];
    };
    let may: boolean | undefined;
    return {
      move: (at, event) => {
        may ??= hands.may(template, end === null);
        if (may) {
          const place = end === null ? this.onGrid(template, at, event) : at;
          handle.setAttribute('cx', String(place[0]));
          handle.setAttribute('cy', String(place[1]));
          showLine(svg, template, edge, with_(place), end ?? undefined);
          markTarget(svg, end === null ? undefined : this.nodeUnder(svg, template, event));
        }
      },
      drop: (at, event) => {
        if (!may) {
          return;
        }
        if (end === null) {
          const to = this.inFile(template, at, event);
          hands.perform(template.name, isNew ? { kind: 'addNail', edge: edge.id, nail, at: to } : { kind: 'moveNail', edge: edge.id, nail, to });
          return;
        }
        const node = this.nodeUnder(svg, template, event);
        markTarget(svg, undefined);
        if (node === undefined) {
          showLine(svg, template, edge, undefined);
          hands.selection.set(template.name, [edge.id]);
          hands.say('An end of an edge belongs on a location.');
        } else {
          hands.perform(template.name, { kind: 'reconnect', edge: edge.id, end, node: node.id });
        }
      },
      undo: () => {
        markTarget(svg, undefined);
        showLine(svg, template, edge, undefined);
        hands.selection.set(template.name, [edge.id]);
      },
    };
  }

  /** Selects what is in a rectangle. */
  private band(svg: SVGSVGElement, template: DrawnTemplate, down: PointerEvent): Partial<Drag> {
    const { selection } = this.hands;
    const start = this.inPicture(svg, down);
    const before = down.shiftKey && selection.template === template.name ? [...selection.elements] : [];
    const rectangle = s('rect', { class: 'band' });
    const inside = ([x, y]: Point): ElementId[] => {
      const [x0, x1] = [Math.min(x, start[0]), Math.max(x, start[0])];
      const [y0, y1] = [Math.min(y, start[1]), Math.max(y, start[1])];
      Object.entries({ x: x0, y: y0, width: x1 - x0, height: y1 - y0 }).forEach(([name, value]) => rectangle.setAttribute(name, String(value)));
      const nodes = template.nodes.filter((n) => n.x >= x0 && n.x <= x1 && n.y >= y0 && n.y <= y1);
      const edges = template.edges.filter((e) => {
        const box = groupOf(svg.parentNode ?? svg, template.name, e.id)?.querySelector<SVGGraphicsElement>('path.line')?.getBBox();
        return box !== undefined && box.x >= x0 && box.x + box.width <= x1 && box.y >= y0 && box.y + box.height <= y1;
      });
      return [...nodes.map((n) => n.id), ...edges.map((e) => e.id)];
    };
    return {
      move: (at) => {
        svg.append(rectangle);
        selection.collecting = true;
        selection.set(template.name, [...before, ...inside(at)]);
      },
      drop: () => rectangle.remove(),
      undo: () => rectangle.remove(),
      click: (_, event) => {
        if (!event.shiftKey) {
          selection.clear();
          selection.template = template.name;
        }
      },
    };
  }

  // ---------------------------------------------------------------------------------------- new edges

  private linking(svg: SVGSVGElement, template: DrawnTemplate, element: ElementId | undefined, event: PointerEvent): Partial<Drag> {
    const { hands, link } = this;
    const node = template.nodes.find((n) => n.id === element);
    if (link === undefined) {
      if (node === undefined || !hands.may(template, false)) {
        return { click: () => hands.say('An edge begins at a location.') };
      }
      const preview = s('path', { class: 'linking' });
      svg.append(preview);
      this.link = { svg, template, source: node, nails: [], preview };
      hands.say(`Edge from ${node.name}: click where it goes, or drag; in between, clicks set nails. Escape cancels.`);
      // A drag from one node to another is an edge, too.
      return {
        drop: (_, e) => {
          const target = this.nodeUnder(svg, template, e);
          if (target !== undefined && target !== node) {
            this.finish(target);
          }
        },
      };
    }
    const at = this.onGrid(template, this.inPicture(svg, event), event);
    if (node !== undefined && link.template === template) {
      return { click: () => this.finish(node), drop: () => this.finish(node) };
    }
    const nail = (): void => {
      if (offsetOf(template) !== null) {
        link.nails.push(at);
      }
    };
    return { click: nail, drop: nail };
  }

  private stretch(link: Link, to: Point): void {
    const points: Point[] = [[link.source.x, link.source.y], ...link.nails, to];
    points[0] = border(link.source, points[1] ?? to);
    link.preview.setAttribute('d', straight(points));
  }

  private finish(target: DrawnNode): void {
    const { link } = this;
    this.cancel();
    if (link !== undefined) {
      const offset = offsetOf(link.template) ?? { x: 0, y: 0 };
      const nails = link.nails.map(([x, y]): Point => [Math.round(x - offset.x), Math.round(y - offset.y)]);
      this.hands.addEdge(link.template.name, link.source.id, target.id, nails);
    }
  }
}

// -------------------------------------------------------------------------------------------- previews

function markTarget(svg: SVGSVGElement, node: DrawnNode | undefined): void {
  for (const group of svg.querySelectorAll('g.node')) {
    group.classList.toggle('goal', node !== undefined && group.getAttribute('data-name') === node.id);
  }
}

/** Shows an edge with another line; `undefined` is its own again. The end that is dragged is at no node. */
function showLine(svg: SVGSVGElement, template: DrawnTemplate, edge: DrawnEdge, line: Point[] | undefined, free?: 'source' | 'target'): void {
  const group = svg.querySelector(`g.edge[data-edge="${edge.id}"]`);
  const points = line?.slice();
  if (points !== undefined) {
    trim(points, template.nodes[edge.source], template.nodes[edge.target], free);
  }
  group?.querySelectorAll('path.line, path.target').forEach((path) => path.setAttribute('d', points === undefined ? edge.path : straight(points)));
  group?.querySelector('polygon')?.setAttribute('points', points === undefined ? edge.arrow : arrow(points));
}

function trim(points: Point[], source: DrawnNode | undefined, target: DrawnNode | undefined, free?: 'source' | 'target'): void {
  const last = points.length - 1;
  const [second, before] = [points[1], points[last - 1]];
  if (source && second && free !== 'source') {
    points[0] = border(source, second);
  }
  if (target && before && free !== 'target') {
    points[last] = border(target, before);
  }
}

/** Shows nodes moved, with the edges at them; labels of edges stay where they are, as in the file. */
export function showMoved(svg: SVGSVGElement, template: DrawnTemplate, names: Set<string>, [dx, dy]: Point): void {
  const moved = (node: DrawnNode | undefined): DrawnNode | undefined => (node && names.has(node.id) ? { ...node, x: node.x + dx, y: node.y + dy } : node);
  for (const group of svg.querySelectorAll('g.node')) {
    const own = names.has(group.getAttribute('data-name') ?? '') && (dx !== 0 || dy !== 0);
    group.toggleAttribute('transform', own);
    if (own) {
      group.setAttribute('transform', `translate(${dx} ${dy})`);
    }
  }
  for (const edge of template.edges) {
    const [source, target] = [moved(template.nodes[edge.source]), moved(template.nodes[edge.target])];
    const ends = [template.nodes[edge.source], template.nodes[edge.target]];
    if (!source || !target || !ends.some((n) => n && names.has(n.id))) {
      continue;
    }
    const group = svg.querySelector(`g.edge[data-edge="${edge.id}"]`);
    const parts = group?.querySelectorAll('path.line, path.target, polygon') ?? [];
    if (edge.source === edge.target && edge.nails.length === 0) {
      parts.forEach((part) => part.setAttribute('transform', `translate(${dx} ${dy})`));
      continue;
    }
    if (dx === 0 && dy === 0) {
      showLine(svg, template, edge, undefined);
      continue;
    }
    const points: Point[] = [[source.x, source.y], ...edge.nails, [target.x, target.y]];
    trim(points, source, target);
    group?.querySelectorAll('path.line, path.target').forEach((path) => path.setAttribute('d', straight(points)));
    group?.querySelector('polygon')?.setAttribute('points', arrow(points));
  }
}
