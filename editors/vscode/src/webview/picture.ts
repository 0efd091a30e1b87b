// A template as SVG: nodes, edges, labels, and the outlines of lines while they are drawn.
import type { DrawnEdge, DrawnNode, DrawnTemplate, ElementId, Label, LabelKind, Point, WrittenLabel } from '../protocol';
import { h, s } from './dom';

/** Width of a character and height of a line in a picture. */
export const CHAR = 7.3;
export const LINE = 15;
/** From the upper left corner of a label in the file to its baseline. */
const BASELINE = LINE - 3;

/** What users call the texts of an element. */
export const WORDS: Record<LabelKind, string> = {
  name: 'name',
  invariant: 'invariant',
  rate: 'rate',
  select: 'select',
  guard: 'guard',
  sync: 'synchronisation',
  update: 'update',
  probability: 'weight',
  comment: 'comment',
};

/** From coordinates of the file to those of the picture; nothing if the file does not place every node. */
export function offsetOf(template: DrawnTemplate): { x: number; y: number } | null {
  return template.offset ?? (template.nodes.length === 0 ? { x: 16, y: 16 } : null);
}

/** The texts of an element, as they are written. */
export function textsOf(texts: WrittenLabel[], element: ElementId): WrittenLabel[] {
  return texts.filter((text) => text.of === element);
}

/** A template under its title; `texts` are its labels as they are written. */
export function section(template: DrawnTemplate, texts: WrittenLabel[], processes: number): HTMLElement {
  const title = template.parameters === '' ? template.name : `${template.name}(${template.parameters})`;
  const words = processes === 1 ? '1 process' : `${processes} processes`;
  return h('section', {}, h('h2', {}, title, h('span', { class: 'summary' }, ` ${words}`)), drawTemplate(template, title, texts));
}

function drawTemplate(template: DrawnTemplate, title: string, texts: WrittenLabel[]): SVGSVGElement {
  const picture = s('svg', { tabindex: 0, role: 'group', 'aria-label': `Template ${title}`, 'data-template': template.name });
  template.edges.forEach((edge) => picture.append(drawEdge(template, edge, textsOf(texts, edge.id))));
  template.nodes.forEach((node) => picture.append(drawNode(template, node, textsOf(texts, node.id))));
  return picture;
}

/** Labels on their line hide it: pieces of the line between two labels would look like characters. */
function ground(labels: Label[]): SVGElement[] {
  const centred = labels.filter((l) => l.centred);
  const first = centred[0];
  if (first === undefined) {
    return [];
  }
  const width = Math.max(...centred.map((l) => [...l.text].length)) * CHAR + 4;
  const top = first.y - LINE + 4;
  const bottom = Math.max(...centred.map((l) => l.y)) + 4;
  return [s('rect', { class: 'ground', x: first.x - width / 2, y: top, width, height: bottom - top })];
}

function text(label: Label): SVGElement {
  const anchor = label.centred ? 'middle' : 'start';
  return s('text', { class: `label ${label.kind}`, x: label.x, y: label.y, 'text-anchor': anchor, 'data-label': label.kind }, label.text);
}

/**
 * The labels to draw: those that the server drew, and those that it cannot read, which would be lost from sight just
 * when they have to be corrected. These go where the file places them, else below the others.
 */
export function shownLabels(template: DrawnTemplate, drawn: Label[], texts: WrittenLabel[], beside: Point): Label[] {
  const offset = offsetOf(template);
  const missing = texts.filter((t) => t.label !== 'comment' && t.label !== 'name' && !drawn.some((l) => l.kind === t.label));
  let lowest = Math.max(beside[1], ...drawn.map((l) => l.y));
  const more = missing.map(({ label, text: written, range, place }): Label => {
    const fixed = place !== null && offset !== null;
    lowest += fixed ? 0 : LINE;
    const [x, y] = fixed ? [place[0] + offset.x, place[1] + offset.y + BASELINE] : [beside[0], lowest];
    return { kind: label, text: written.split(/\s+/).join(' ').trim(), range, x, y, place, centred: false };
  });
  return [...drawn, ...more];
}

/** The upper left corner of a label in the picture. */
export function cornerOf(label: SVGTextElement): Point {
  const left = label.getAttribute('text-anchor') === 'middle' ? label.getBBox().x : Number(label.getAttribute('x'));
  return [left, Number(label.getAttribute('y')) - BASELINE];
}

function drawEdge(template: DrawnTemplate, edge: DrawnEdge, texts: WrittenLabel[]): SVGElement {
  const from = template.nodes[edge.source]?.name ?? '';
  const to = template.nodes[edge.target]?.name ?? '';
  const line = edgeLine(template, edge);
  const middle = line[Math.floor(line.length / 2)] ?? [0, 0];
  const labels = shownLabels(template, edge.labels, texts, [middle[0] + 6, middle[1]]);
  const words = [`Edge from ${from} to ${to}`, ...labels.map((l) => `${WORDS[l.kind as LabelKind]} ${l.text}`)];
  if (edge.comment) {
    words.push(`comment ${edge.comment}`);
  }
  return s(
    'g',
    {
      class: 'edge',
      tabindex: 0,
      role: 'button',
      'aria-label': words.join(', '),
      'data-words': words.join(', '),
      'data-from': from,
      'data-to': to,
      'data-line': edge.line,
      'data-edge': edge.id,
    },
    s('title', {}, edge.comment ?? ''),
    // Thin lines are hard to hit.
    s('path', { class: 'target', d: edge.path }),
    s('path', { class: edge.controllable ? 'line' : 'line dashed', d: edge.path }),
    s('polygon', { class: 'head', points: edge.arrow }),
    ...ground(labels),
    ...labels.map(text),
  );
}

function outline(node: DrawnNode, name: string, inset: number): SVGElement {
  const width = node.width - 2 * inset;
  const height = node.height - 2 * inset;
  return s('rect', { class: name, x: node.x - width / 2, y: node.y - height / 2, width, height, rx: Math.min(width, height) / 2 });
}

function drawNode(template: DrawnTemplate, node: DrawnNode, texts: WrittenLabel[]): SVGElement {
  const labels = shownLabels(template, node.labels, texts, [node.x - 10, node.y + node.height / 2]);
  const words = describe(node, labels);
  const group = s(
    'g',
    {
      class: `node ${node.kind}`,
      tabindex: 0,
      role: 'button',
      'data-name': node.name,
      'data-words': words,
      'aria-label': words,
      'data-line': node.line,
    },
    s('title', {}, node.comment ?? ''),
    outline(node, 'outline', 0),
  );
  if (node.initial) {
    group.append(outline(node, 'ring', 3));
  }
  const letter = node.kind === 'urgent' ? 'U' : node.kind === 'committed' ? 'C' : '';
  if (letter !== '') {
    const x = node.width > node.height ? node.x - node.width / 2 + 8 : node.x;
    group.append(s('text', { class: 'badge', x, y: node.y + 4, 'text-anchor': 'middle' }, letter));
  }
  group.append(...labels.map(text));
  group.append(s('text', { class: 'here', x: node.x, 'data-x': node.x, y: node.y - node.height / 2 - 6, 'text-anchor': 'middle' }));
  return group;
}

function describe(node: DrawnNode, labels: Label[]): string {
  const name = node.anonymous ? 'Location without a name' : `Location ${node.name}`;
  const words = [node.kind === 'branchpoint' ? 'Branchpoint' : name];
  if (node.initial) {
    words.push('initial');
  }
  if (node.kind === 'urgent' || node.kind === 'committed') {
    words.push(node.kind);
  }
  labels.filter((l) => l.kind !== 'name').forEach((l) => words.push(`${WORDS[l.kind as LabelKind]} ${l.text}`));
  if (node.comment) {
    words.push(`comment ${node.comment}`);
  }
  return words.join(', ');
}

// ------------------------------------------------------------------------------------------------ lines

/** The corners of an edge between the centres of its ends, in coordinates of the picture. */
export function edgeLine(template: DrawnTemplate, edge: DrawnEdge): Point[] {
  const centre = (index: number): Point => [template.nodes[index]?.x ?? 0, template.nodes[index]?.y ?? 0];
  return [centre(edge.source), ...edge.nails, centre(edge.target)];
}

/** Where the line from the centre of a node to a point leaves its outline. */
export function border(node: DrawnNode, [x, y]: Point): Point {
  const [dx, dy] = [x - node.x, y - node.y];
  const distance = Math.hypot(dx, dy);
  const radius = Math.min(node.width, node.height) / 2;
  return distance <= radius ? [node.x, node.y] : [node.x + (dx / distance) * radius, node.y + (dy / distance) * radius];
}

/** The data of a path through points. */
export function straight(points: Point[]): string {
  return points.map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x},${y}`).join(' ');
}

/** The arrow head at the end of a line. */
export function arrow(points: Point[]): string {
  const tip = points[points.length - 1];
  const from = points[points.length - 2];
  if (tip === undefined || from === undefined) {
    return '';
  }
  const angle = Math.atan2(tip[1] - from[1], tip[0] - from[0]);
  const corner = (turn: number): string => `${tip[0] - 10 * Math.cos(angle + turn)},${tip[1] - 10 * Math.sin(angle + turn)}`;
  return `${tip[0]},${tip[1]} ${corner(0.4)} ${corner(-0.4)}`;
}

/** The number that a new nail at a point of an edge's line gets. */
export function nailNumber(line: Point[], [x, y]: Point): number {
  let best = { number: 0, distance: Infinity };
  for (let i = 0; i + 1 < line.length; i++) {
    const [[ax, ay], [bx, by]] = [line[i] ?? [0, 0], line[i + 1] ?? [0, 0]];
    const length = (bx - ax) ** 2 + (by - ay) ** 2;
    const part = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
    const distance = Math.hypot(ax + part * (bx - ax) - x, ay + part * (by - ay) - y);
    if (distance < best.distance) {
      best = { number: i, distance };
    }
  }
  return best.number;
}

/** The nail of an edge that goes around a straight one between the same nodes, in coordinates of the file; none if there is none. */
export function around(template: DrawnTemplate, source: string, target: string, distance: number): Point[] {
  const offset = offsetOf(template);
  const [a, b] = [source, target].map((id) => template.nodes.find((n) => n.id === id));
  const between = (e: DrawnEdge): boolean => e.nails.length === 0 && [a, b].every((n) => template.nodes[e.source] === n || template.nodes[e.target] === n);
  if (!a || !b || a === b || offset === null || !template.edges.some(between)) {
    return [];
  }
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [dx, dy] = [(-distance * (b.y - a.y)) / length, (distance * (b.x - a.x)) / length];
  return [[Math.round((a.x + b.x) / 2 + dx - offset.x), Math.round((a.y + b.y) / 2 + dy - offset.y)]];
}

/** A place for a new node beside another one, in coordinates of the file, where no node is near. */
export function freePlace(template: DrawnTemplate, beside: string | undefined): Point {
  const offset = offsetOf(template) ?? { x: 0, y: 0 };
  const from = template.nodes.find((n) => n.id === beside) ?? template.nodes[template.nodes.length - 1];
  if (from === undefined) {
    return [0, 0];
  }
  const [x, y] = [from.x - offset.x, from.y - offset.y];
  const free = ([px, py]: Point): boolean => template.nodes.every((n) => Math.hypot(n.x - offset.x - px, n.y - offset.y - py) >= 60);
  const ways = [1, 2, 3, 4].flatMap((n): Point[] => [[x + 136 * n, y], [x, y + 136 * n], [x + 136 * n, y + 136 * n], [x - 136 * n, y + 136 * n]]);
  return ways.find(free) ?? [x + 680, y];
}
