// The diagram panel's page: every template as a graph, the current step of the trace in it.
import type { DiagramStep, DrawnEdge, DrawnNode, DrawnTemplate, Drawing, FromDiagramPanel, Label, Move, ToDiagramPanel } from '../protocol';
import { app, button, h, host, isTyping, s, sorted } from './dom';

let drawing: Drawing | undefined;
let step: DiagramStep | null = null;
/** Whether a click on an edge takes it. */
let simulated = false;
let chosen = '';
/** The scale, or `fit` while the user has not chosen one. */
let zoom: number | 'fit' = 'fit';

const picker = h('select', { 'aria-label': 'Template' });
const place = h('output', { class: 'place', 'aria-live': 'polite' });
const steps = h('span', { class: 'stepping', hidden: true });
const canvas = h('main', { class: 'diagrams' });

function send(message: FromDiagramPanel): void {
  host.postMessage(message);
}

function move(to: Move): void {
  send({ type: 'move', to });
}

function build(): void {
  steps.append(
    button('◀', 'Previous step (Alt+Left)', () => move('previous')),
    button('▶', 'Next step (Alt+Right)', () => move('next')),
  );
  picker.addEventListener('change', () => {
    chosen = picker.value;
    draw();
  });
  const controls = h(
    'div',
    { class: 'controls', role: 'toolbar', 'aria-label': 'Diagram' },
    picker,
    button('−', 'Smaller (minus)', () => scale(size() / 1.2)),
    button('Fit', 'Fit to the panel (0)', () => scale('fit')),
    button('+', 'Larger (plus)', () => scale(size() * 1.2)),
    steps,
    place,
  );
  app().append(h('header', {}, controls), canvas);
  document.addEventListener('keydown', onKey);
  window.addEventListener('resize', () => scale(zoom));
}

function onKey(event: KeyboardEvent): void {
  if (isTyping(event.target)) {
    return;
  }
  const keys: Record<string, () => void> = event.altKey
    ? { ArrowRight: () => move('next'), ArrowLeft: () => move('previous') }
    : { '+': () => scale(size() * 1.2), '-': () => scale(size() / 1.2), '0': () => scale('fit') };
  const action = keys[event.key];
  if (action !== undefined && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    action();
  }
}

/** The current scale as a factor. */
function size(): number {
  const widths = [...canvas.querySelectorAll('svg')].map((picture) => picture.viewBox.baseVal.width);
  const fitting = (canvas.clientWidth - 32) / Math.max(...widths, 1);
  return zoom === 'fit' ? Math.max(0.3, Math.min(1, fitting)) : zoom;
}

function scale(to: number | 'fit'): void {
  zoom = to === 'fit' ? to : Math.max(0.2, Math.min(4, to));
  const factor = size();
  for (const picture of canvas.querySelectorAll('svg')) {
    const box = picture.viewBox.baseVal;
    picture.setAttribute('width', String(box.width * factor));
    picture.setAttribute('height', String(box.height * factor));
  }
}

// ------------------------------------------------------------------------------------------- the picture

function draw(): void {
  if (drawing === undefined) {
    return;
  }
  const templates = drawing.templates.filter((t) => chosen === '' || t.name === chosen);
  canvas.replaceChildren(...templates.map(section));
  if (templates.length === 0) {
    canvas.append(h('p', {}, 'This model has no template.'));
  }
  scale(zoom);
  light();
}

function section(template: DrawnTemplate): HTMLElement {
  const title = template.parameters === '' ? template.name : `${template.name}(${template.parameters})`;
  const processes = drawing?.processes.filter((p) => p.template === template.name).length ?? 0;
  const count = processes === 1 ? '1 process' : `${processes} processes`;
  const picture = s('svg', {
    viewBox: `0 0 ${template.width} ${template.height}`,
    role: 'group',
    'aria-label': `Template ${title}`,
    'data-template': template.name,
  });
  template.edges.forEach((edge) => picture.append(drawEdge(template, edge)));
  template.nodes.forEach((node) => picture.append(drawNode(node)));
  return h('section', {}, h('h2', {}, title, h('span', { class: 'summary' }, ` ${count}`)), picture);
}

/** A click goes to the text, unless `instead` does something. */
function activate(element: SVGElement, line: number, instead = (): boolean => false): void {
  const act = (): void => {
    if (!instead()) {
      send({ type: 'jump', line });
    }
  };
  element.addEventListener('click', act);
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  });
}

/** Width of a character and height of a line in a diagram. */
const CHAR = 7.3;
const LINE = 15;

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
  return s('text', { class: `label ${label.kind}`, x: label.x, y: label.y, 'text-anchor': anchor }, label.text);
}

function drawEdge(template: DrawnTemplate, edge: DrawnEdge): SVGElement {
  const from = template.nodes[edge.source]?.name ?? '';
  const to = template.nodes[edge.target]?.name ?? '';
  const words = edge.labels.map((l) => `${l.kind} ${l.text}`).join(', ');
  const group = s(
    'g',
    {
      class: 'edge',
      tabindex: 0,
      role: 'button',
      'aria-label': `Edge from ${from} to ${to}${words === '' ? '' : `, ${words}`}`,
      'data-from': from,
      'data-to': to,
      'data-line': edge.line,
      'data-edge': edge.id,
    },
    // Thin lines are hard to hit.
    s('path', { class: 'target', d: edge.path }),
    s('path', { class: edge.controllable ? 'line' : 'line dashed', d: edge.path }),
    s('polygon', { class: 'head', points: edge.arrow }),
    ...ground(edge.labels),
    ...edge.labels.map(text),
  );
  activate(group, edge.line, () => simulated && (send({ type: 'edge', template: template.name, edge: edge.id }), true));
  return group;
}

function outline(node: DrawnNode, name: string, inset: number): SVGElement {
  const width = node.width - 2 * inset;
  const height = node.height - 2 * inset;
  return s('rect', {
    class: name,
    x: node.x - width / 2,
    y: node.y - height / 2,
    width,
    height,
    rx: Math.min(width, height) / 2,
  });
}

function drawNode(node: DrawnNode): SVGElement {
  const group = s(
    'g',
    {
      class: `node ${node.kind}`,
      tabindex: 0,
      role: 'button',
      'data-name': node.name,
      'data-words': describe(node),
      'aria-label': describe(node),
    },
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
  group.append(...node.labels.map(text));
  group.append(s('text', { class: 'here', x: node.x, 'data-x': node.x, y: node.y - node.height / 2 - 6, 'text-anchor': 'middle' }));
  activate(group, node.line);
  return group;
}

function describe(node: DrawnNode): string {
  const words = [node.kind === 'branchpoint' ? 'Branchpoint' : `Location ${node.name}`];
  if (node.initial) {
    words.push('initial');
  }
  if (node.kind === 'urgent' || node.kind === 'committed') {
    words.push(node.kind);
  }
  node.labels.filter((l) => l.kind !== 'name').forEach((l) => words.push(`${l.kind} ${l.text}`));
  return words.join(', ');
}

// ---------------------------------------------------------------------------------------------- the step

const MAX_NAMES = 3;

/** Highlights the locations of the current step and the edges taken, by words and line widths, not only colours. */
function light(): void {
  steps.hidden = step === null;
  place.textContent = step === null ? '' : `Step ${step.number} · t = ${step.time} · ${step.action}`;
  for (const picture of canvas.querySelectorAll('svg')) {
    const template = picture.getAttribute('data-template');
    const own = new Set(drawing?.processes.filter((p) => p.template === template).map((p) => p.name));
    for (const group of picture.querySelectorAll('g.node')) {
      lightNode(group, own);
    }
    for (const group of picture.querySelectorAll('g.edge')) {
      const id = group.getAttribute('data-edge');
      const taken = step?.edges.some((e) => own.has(e.process) && e.edge !== null && String(e.edge) === id);
      group.classList.toggle('taken', taken === true);
    }
  }
}

/** Highlights the edges of the transition that is pointed at in the simulator. */
function point(edges: { process: string; edge: number | null }[]): void {
  for (const picture of canvas.querySelectorAll('svg')) {
    const template = picture.getAttribute('data-template');
    const own = new Set(drawing?.processes.filter((p) => p.template === template).map((p) => p.name));
    for (const group of picture.querySelectorAll('g.edge')) {
      const id = group.getAttribute('data-edge');
      group.classList.toggle('pointed', edges.some((e) => own.has(e.process) && String(e.edge) === id));
    }
  }
}

function lightNode(group: Element, own: Set<string>): void {
  const name = group.getAttribute('data-name');
  const here = sorted(step?.locations ?? {})
    .filter(([process, location]) => own.has(process) && location === name)
    .map(([process]) => process);
  const more = here.length > MAX_NAMES ? ` and ${here.length - MAX_NAMES} more` : '';
  const words = here.length === 0 ? '' : `◉ ${here.slice(0, MAX_NAMES).join(', ')}${more}`;
  group.classList.toggle('lit', here.length > 0);
  const label = group.querySelector('text.here');
  if (label) {
    label.textContent = words;
    // Many names over a location at the left edge begin at the edge.
    const half = ([...words].length * CHAR) / 2 + 4;
    label.setAttribute('x', String(Math.max(Number(label.getAttribute('data-x')), half)));
  }
  const plain = group.getAttribute('data-words') ?? '';
  group.setAttribute('aria-label', here.length === 0 ? plain : `${plain}, here: ${here.join(', ')}`);
}

window.addEventListener('message', (event: MessageEvent<ToDiagramPanel>) => {
  const message = event.data;
  if (message.type === 'drawing') {
    drawing = message.drawing;
    const names = drawing.templates.map((t) => t.name);
    chosen = names.includes(chosen) ? chosen : '';
    const options = [['', `All templates of ${message.name}`], ...names.map((n) => [n, n])];
    picker.replaceChildren(...options.map(([value, label]) => h('option', { value, selected: value === chosen }, label ?? '')));
    draw();
  } else if (message.type === 'step') {
    step = message.step;
    simulated = message.simulated;
    light();
  } else if (message.type === 'hover') {
    point(message.edges);
  } else {
    drawing = undefined;
    canvas.replaceChildren(h('p', {}, message.message));
  }
});

build();
send({ type: 'ready' });
