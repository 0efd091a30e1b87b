// The page of a picture: templates as graphs, the current step of the trace in them, and everything that edits them.
import type { DiagramStep, DrawnTemplate, Drawing, ElementId, FromDiagram, Gesture, LabelKind, Move, Point, Problem, ToDiagram, WrittenLabel } from '../protocol';
import { app, button, h, host, isTyping } from './dom';
import { Field } from './field';
import { showHandles } from './handles';
import { Deeds, KEYS, WAYS, hasLabel, inspect, mainLabel } from './inspector';
import { light, point, problemsAt, showProblems } from './lights';
import { Nudge } from './nudge';
import { WORDS, around, cornerOf, edgeLine, freePlace, offsetOf, section } from './picture';
import { Pointer, Tool } from './pointer';
import { Selection, elementOf, groupOf } from './selection';
import { Tabs } from './tabs';
import { Zoom } from './zoom';

/** The grid of UPPAAL. */
const GRID = 17;

let drawing: Drawing | undefined;
let problems: Problem[] = [];
let step: DiagramStep | null = null;
/** Whether a click on an edge takes it. */
let simulated = false;
/** Why nothing can be edited. */
let refused: string | null = null;
/** A gesture that was sent, and what follows it. */
let pending: { name: string; then?: (added: ElementId | null) => void } | undefined;
/** The template that is shown; all without it. */
let chosen = '';
let tool: Tool = 'select';
/** A location is being chosen by keyboard. */
let choosing: { template: string; words: string; done(node: string): void } | undefined;
const state = (host.getState() as { grid?: boolean } | undefined) ?? {};
let grid = state.grid ?? true;

const tabs = new Tabs({ choose, rename: () => deeds.rename(), add: addTemplate });
const place = h('output', { class: 'place', 'aria-live': 'polite' });
const steps = h('span', { class: 'stepping', hidden: true });
const tools = h('div', { class: 'controls tools', role: 'toolbar', 'aria-label': 'Tools' });
const inspector = h('div', { class: 'controls inspector', role: 'toolbar', 'aria-label': 'Selection' });
const said = h('output', { class: 'said', role: 'status', 'aria-live': 'polite' });
const canvas = h('main', { class: 'diagrams' });
const sheets = h('div', { class: 'sheets' });
const field = new Field(canvas);
const zoom = new Zoom(canvas, sheets);
const selection = new Selection(() => showSelection());
const nudge = new Nudge((template, nodes, by) => perform(template, { kind: 'move', nodes, by }));

function send(message: FromDiagram): void {
  host.postMessage(message);
}

function move(to: Move): void {
  send({ type: 'move', to });
}

function say(words: string): void {
  said.textContent = words;
}

// ---------------------------------------------------------------------------------------------- gestures

function templateOf(name: string): DrawnTemplate | undefined {
  return drawing?.templates.find((t) => t.name === name);
}

function textsOf(template: string): WrittenLabel[] {
  return drawing?.texts?.[template]?.labels ?? [];
}

/** The template that commands without an element mean. */
function current(): DrawnTemplate | undefined {
  const names = [elementOf(document.activeElement)?.template, document.activeElement?.getAttribute('data-template'), selection.template, chosen];
  const shown = shownTemplates();
  return names.flatMap((name) => shown.filter((t) => t.name === name))[0] ?? shown[0];
}

function shownTemplates(): DrawnTemplate[] {
  return drawing?.templates.filter((t) => chosen === '' || t.name === chosen) ?? [];
}

function may(template: DrawnTemplate | undefined, places: boolean): boolean {
  if (refused !== null) {
    say(`Editing is off: ${refused}.`);
    return false;
  }
  if (places && template !== undefined && offsetOf(template) === null) {
    say('The file does not say where everything is: write the layout to the file first.');
    return false;
  }
  return true;
}

function perform(template: string, gesture: Gesture, then?: (added: ElementId | null) => void): void {
  nudge.flush();
  if (drawing === undefined || !may(templateOf(template), false)) {
    redraw();
    return;
  }
  if (pending !== undefined) {
    say('The gesture before this one is still being done.');
    return;
  }
  pending = { name: gesture.kind, ...(then && { then }) };
  canvas.setAttribute('aria-busy', 'true');
  zoom.keep();
  send({ type: 'gesture', template, version: drawing.version, gesture });
}

/** What a gesture has added is selected and has the focus. */
function take(template: string): (added: ElementId | null) => void {
  return (added) => {
    if (added !== null) {
      selection.collecting = false;
      selection.set(template, [added]);
      groupOf(sheets, template, added)?.focus({ preventScroll: true });
    }
  };
}

/** Opens the field of a label. */
function edit(template: string, element: ElementId, asked?: LabelKind): void {
  const label = asked ?? mainLabel(element, textsOf(template));
  const own = templateOf(template);
  const group = groupOf(sheets, template, element);
  if (own === undefined || group === null || !may(own, false)) {
    return;
  }
  if (!hasLabel(own, element, label)) {
    say(`${typeof element === 'number' ? 'An edge' : 'This'} has no ${WORDS[label]}.`);
    return;
  }
  const written = textsOf(template).find((t) => t.of === element && t.label === label);
  const shown = group.querySelector(`text.label[data-label="${label}"]`) ?? group.querySelector('.outline, polygon');
  const box = (shown ?? group).getBoundingClientRect();
  const before = meaning(own, element, label);
  const of = typeof element === 'number' ? group.getAttribute('aria-label')?.split(',')[0] : element;
  field.open({
    title: `${WORDS[label][0]?.toUpperCase()}${WORDS[label].slice(1)} of ${(of ?? '').replace(/^Edge/, 'edge')}`,
    value: written?.text ?? '',
    // Below it: its mark stays in sight.
    at: { x: box.left, y: box.bottom + 6 },
    problems: written === undefined ? [] : problemsAt(problems, written.range).map((p) => p.message),
    multiline: label !== 'name',
    apply: (text) => {
      // Numbers of edges are other edges after some changes of the text.
      if (meaning(templateOf(template), element, label) !== before) {
        field.refuse('This was changed in the text meanwhile. Cancel with Escape and look again.');
        return;
      }
      const name = text.trim();
      perform(template, { kind: 'label', of: element, label, text: label === 'name' ? name : text }, () => {
        field.close();
        refocus(template, label === 'name' && name !== '' ? name : element);
      });
    },
    cancelled: () => refocus(template, element),
  });
  if (label !== 'name' && label !== 'comment') {
    send({ type: 'names', template, of: element });
  }
}

/** What the text of a field belongs to. */
function meaning(template: DrawnTemplate | undefined, element: ElementId, label: LabelKind): string {
  const edge = template?.edges.find((e) => e.id === element);
  const ends = [edge?.source, edge?.target].map((end) => template?.nodes[end ?? -1]?.id);
  return JSON.stringify([template?.name, element, ends, textsOf(template?.name ?? '').find((t) => t.of === element && t.label === label)?.text]);
}

function refocus(template: string, element: ElementId): void {
  selection.set(template, [element]);
  groupOf(sheets, template, element)?.focus({ preventScroll: true });
}

/** Asks for a name or a list of parameters, below the tabs. */
function ask(title: string, value: string, template: string, gesture: (text: string) => Gesture, then: (text: string) => void): void {
  if (may(undefined, false)) {
    const { left, top } = canvas.getBoundingClientRect();
    const apply = (text: string): void =>
      perform(template, gesture(text), () => {
        field.close();
        then(text);
      });
    field.open({ title, value, at: { x: left + 12, y: top + 8 }, problems: [], multiline: false, apply, cancelled: () => undefined });
  }
}

function addTemplate(): void {
  const names = new Set(drawing?.templates.map((t) => t.name));
  const free = Array.from({ length: names.size + 1 }, (_, i) => (i === 0 ? 'Template' : `Template${i + 1}`)).find((name) => !names.has(name)) ?? '';
  ask('Name of the new template', free, '', (name) => ({ kind: 'addTemplate', name: name.trim() }), (name) => choose(name.trim()));
  // The suggestion is a name to apply, too.
  field.suggest();
}

function rename(template: DrawnTemplate): void {
  ask(`Name of the template ${template.name}`, template.name, template.name, (name) => ({ kind: 'renameTemplate', name: name.trim() }), (name) => chosen !== '' && choose(name.trim()));
}

function removeSelected(): void {
  if (selection.elements.size > 0) {
    perform(selection.template, { kind: 'delete', elements: [...selection.elements] }, () => selection.clear());
  }
}

/** Chooses a location by keyboard. */
function chooseNode(template: string, words: string, done: (node: string) => void): void {
  choosing = { template, words, done };
  say(`${words}: go to a location with Tab and press Enter; Escape cancels.`);
  sheets.querySelector<SVGElement>(`svg[data-template="${CSS.escape(template)}"] g.node`)?.focus();
}

function edgeFrom(template: string, source: string): void {
  if (may(templateOf(template), false)) {
    chooseNode(template, `Edge from ${source}`, (target) => addEdge(template, source, target, []));
  }
}

/** Adds an edge; a straight one beside a straight one that is there already goes around it. */
function addEdge(template: string, source: string, target: string, nails: Point[]): void {
  const own = templateOf(template);
  const given = nails.length === 0 && own !== undefined ? around(own, source, target, 2 * GRID) : nails;
  perform(template, { kind: 'addEdge', source, target, nails: given }, take(template));
}

const deeds: Deeds = {
  edit: (label) => selection.only !== undefined && edit(selection.template, selection.only, label),
  moveLabel: (label, [dx, dy], fine) => {
    const { template, only } = selection;
    const own = templateOf(template);
    const offset = own && offsetOf(own);
    const text = only === undefined ? null : groupOf(sheets, template, only)?.querySelector<SVGTextElement>(`text.label[data-label="${label}"]`);
    if (only !== undefined && own && text && may(own, true) && offset && pending === undefined) {
      const unit = grid && !fine ? GRID : 1;
      const [x, y] = cornerOf(text);
      perform(template, { kind: 'moveLabel', of: only, label, to: [Math.round(x - offset.x) + dx * unit, Math.round(y - offset.y) + dy * unit] });
    }
  },
  initial: (node) => perform(selection.template, { kind: 'initial', node }),
  kind: (node, to) => perform(selection.template, { kind: 'setKind', node, to }),
  edgeFrom: (node) => edgeFrom(selection.template, node),
  reconnect: (edge, end) => {
    const { template } = selection;
    if (may(templateOf(template), false)) {
      chooseNode(template, `New ${end} of the edge`, (node) => perform(template, { kind: 'reconnect', edge, end, node }, () => refocus(template, edge)));
    }
  },
  addNail: (number) => {
    const template = templateOf(selection.template);
    const edge = template?.edges.find((e) => e.id === number);
    const offset = template && offsetOf(template);
    if (template && edge && offset) {
      const line = edgeLine(template, edge);
      const nail = Math.floor((line.length - 1) / 2);
      const [a, b] = [line[nail] ?? [0, 0], line[nail + 1] ?? [0, 0]];
      perform(template.name, { kind: 'addNail', edge: number, nail, at: snapped([(a[0] + b[0]) / 2 - offset.x, (a[1] + b[1]) / 2 - offset.y], false) });
    }
  },
  remove: removeSelected,
  text: () => {
    const group = selection.only === undefined ? null : groupOf(sheets, selection.template, selection.only);
    jump(group);
  },
  rename: () => {
    const template = current();
    if (template) {
      rename(template);
    }
  },
  parameters: () => {
    const template = current();
    if (template) {
      const text = drawing?.texts?.[template.name]?.parameters ?? '';
      ask(`Parameters of ${template.name}`, text, template.name, (parameters) => ({ kind: 'parameters', text: parameters }), () => undefined);
    }
  },
  writeLayout: () => {
    const template = current();
    if (template) {
      perform(template.name, { kind: 'writeLayout' });
    }
  },
};

function snapped([x, y]: Point, free: boolean): Point {
  const unit = grid && !free ? GRID : 1;
  return [Math.round(x / unit) * unit + 0, Math.round(y / unit) * unit + 0];
}

function jump(group: Element | null): void {
  if (group !== null) {
    send({ type: 'jump', line: Number(group.getAttribute('data-line')) });
  }
}

/** A click on an element selects it; while something is simulated, one on an edge takes its transition. */
function activate(group: Element, event: { ctrlKey: boolean; metaKey: boolean; shiftKey: boolean }): void {
  const found = elementOf(group);
  if (found === undefined) {
    return;
  }
  if (event.ctrlKey || event.metaKey) {
    jump(group);
  } else if (event.shiftKey) {
    selection.toggle(found.template, found.element);
  } else if (simulated && typeof found.element === 'number') {
    send({ type: 'edge', template: found.template, edge: found.element });
  } else {
    selection.collecting = false;
    selection.set(found.template, [found.element]);
  }
}

const pointer = new Pointer({
  canvas,
  selection,
  tool: () => tool,
  template: templateOf,
  may,
  snapped,
  perform: (template, gesture) => perform(template, gesture, take(template)),
  addEdge,
  activate,
  edit,
  zoomBy: (factor, at) => zoom.by(factor, at),
  say,
});

// ---------------------------------------------------------------------------------------------- keyboard

function onKey(event: KeyboardEvent): void {
  if (isTyping(event.target)) {
    return;
  }
  if (event.key === ' ' && !(event.target instanceof HTMLButtonElement)) {
    pointer.panning = true;
  }
  const action = keyAction(event);
  if (action !== undefined) {
    event.preventDefault();
    // Neither the workbench nor the page does something else with this key.
    event.stopPropagation();
    action();
  }
}

function keyAction(event: KeyboardEvent): (() => void) | undefined {
  const { key } = event;
  const found = focused();
  if (event.altKey) {
    const all: Record<string, () => void> = { ArrowRight: () => move('next'), ArrowLeft: () => move('previous') };
    return all[key];
  }
  if (event.ctrlKey || event.metaKey) {
    const template = current();
    return key === 'a' && template !== undefined ? () => selectAll(template) : undefined;
  }
  if (key === 'Escape') {
    return escape;
  }
  const onButton = event.target instanceof HTMLButtonElement;
  if (document.activeElement?.classList.contains('handle') === true) {
    return undefined;
  }
  if (!onButton) {
    if (key === 'Enter' && (tool === 'location' || tool === 'branchpoint') && document.activeElement?.matches('svg[data-template]') === true) {
      return () => addByKey(undefined);
    }
    const own = found && elementAction(event, found);
    if (own !== undefined) {
      return own;
    }
    if ((key === 'Delete' || key === 'Backspace') && selection.elements.size > 0) {
      return removeSelected;
    }
    const [node] = selection.nodes;
    if (key.startsWith('Arrow') && node !== undefined) {
      return () => push(selection.template, node, event);
    }
  }
  const plain: Record<string, () => void> = {
    '+': () => zoom.by(1.2),
    '-': () => zoom.by(1 / 1.2),
    '0': () => zoom.fit(),
    v: () => use('select'),
    l: () => use('location'),
    b: () => use('branchpoint'),
    e: () => use('edge'),
  };
  return event.shiftKey ? undefined : plain[key];
}

/** The element that keys mean: the one with the focus, else the one that is selected. */
function focused(): { group: Element; template: string; element: ElementId } | undefined {
  const active = document.activeElement;
  const own = elementOf(active);
  const isPage = active === null || active === document.body || active.matches('svg[data-template]');
  const group = isPage && selection.only !== undefined ? groupOf(sheets, selection.template, selection.only) : null;
  return own ?? elementOf(group);
}

function elementAction(event: KeyboardEvent, found: { group: Element; template: string; element: ElementId }): (() => void) | undefined {
  const { group, template, element } = found;
  const template_ = templateOf(template);
  const node = typeof element === 'string';
  const label = KEYS[event.key];
  if (event.key.startsWith('Arrow') && node) {
    return () => push(template, element, event);
  }
  if (label !== undefined && !event.shiftKey && template_ !== undefined && hasLabel(template_, element, label)) {
    return () => edit(template, element, label);
  }
  const own: Record<string, () => void> = {
    Enter: () => enter(group, template, element),
    ' ': () => selection.toggle(template, element),
    F2: () => edit(template, element),
    Delete: removeSelected,
    Backspace: removeSelected,
  };
  if (node) {
    own.e = () => edgeFrom(template, element);
    own.o = () => perform(template, { kind: 'initial', node: element });
  }
  return own[event.key];
}

function enter(group: Element, template: string, element: ElementId): void {
  if (choosing !== undefined) {
    const { done, template: wanted } = choosing;
    if (typeof element === 'string' && template === wanted) {
      choosing = undefined;
      done(element);
    } else {
      say(`${choosing.words}: this is not a location of the template.`);
    }
  } else if (tool === 'location' || tool === 'branchpoint') {
    addByKey(typeof element === 'string' ? element : undefined);
  } else if (tool === 'edge' && typeof element === 'string') {
    edgeFrom(template, element);
  } else if (simulated && typeof element === 'number') {
    send({ type: 'edge', template, edge: element });
  } else {
    jump(group);
  }
}

/** Adds a node beside another one, where there is room. */
function addByKey(beside: string | undefined): void {
  const template = current();
  if (template === undefined || !may(template, true)) {
    return;
  }
  const at = snapped(freePlace(template, beside), false);
  perform(template.name, { kind: tool === 'branchpoint' ? 'addBranchpoint' : 'addLocation', at }, take(template.name));
}

/** Moves the selected nodes by the arrow keys; what follows within a moment is the same gesture. */
function push(template: string, element: string, event: KeyboardEvent): void {
  const own = templateOf(template);
  const svg = sheets.querySelector<SVGSVGElement>(`svg[data-template="${CSS.escape(template)}"]`);
  if (own === undefined || svg === null || !may(own, true) || pending !== undefined) {
    return;
  }
  if (!selection.has(template, element)) {
    selection.set(template, [element]);
  }
  const unit = grid && !event.shiftKey ? GRID : 1;
  const [dx, dy] = (WAYS[event.key] ?? [0, 0]).map((way) => way * unit) as Point;
  nudge.push(svg, own, selection.nodes, [dx, dy]);
}

function escape(): void {
  if (nudge.isPending) {
    nudge.drop();
    redraw();
  } else if (pointer.isBusy || choosing !== undefined) {
    pointer.cancel();
    choosing = undefined;
    say('Cancelled.');
  } else if (tool !== 'select') {
    use('select');
  } else {
    selection.clear();
  }
}

function selectAll(template: DrawnTemplate): void {
  selection.collecting = true;
  selection.set(template.name, [...template.nodes.map((n) => n.id), ...template.edges.map((e) => e.id)]);
  say(`${selection.elements.size} elements are selected.`);
}

// ---------------------------------------------------------------------------------------------- the page

const TOOLS: [Tool, string, string][] = [
  ['select', 'Select', 'Select and move (v)'],
  ['location', 'Location', 'Add locations: click, or press Enter (l)'],
  ['edge', 'Edge', 'Add edges: click or drag from location to location (e)'],
  ['branchpoint', 'Branchpoint', 'Add branchpoints: click, or press Enter (b)'],
];

function use(next: Tool): void {
  pointer.cancel();
  choosing = undefined;
  tool = next;
  tools.querySelectorAll('button[data-tool]').forEach((b) => b.setAttribute('aria-pressed', String(b.getAttribute('data-tool') === tool)));
  canvas.dataset.tool = tool;
  say(tool === 'select' ? '' : (TOOLS.find(([t]) => t === tool)?.[2] ?? ''));
}

function build(): void {
  steps.append(button('◀', 'Previous step (Alt+Left)', () => move('previous')), button('▶', 'Next step (Alt+Right)', () => move('next')));
  for (const [name, words, title] of TOOLS) {
    const choice = button(words, title, () => use(name));
    choice.setAttribute('data-tool', name);
    tools.append(choice);
  }
  const snap = h('input', { type: 'checkbox', checked: grid });
  snap.addEventListener('change', () => {
    grid = snap.checked;
    host.setState({ ...state, grid });
  });
  tools.append(
    h('label', { class: 'pair', title: 'New places are on a grid of 17; with Alt they are not' }, snap, 'Grid'),
    button('−', 'Smaller (minus)', () => zoom.by(1 / 1.2)),
    button('Fit', 'Fit to the panel (0)', () => zoom.fit()),
    button('+', 'Larger (plus)', () => zoom.by(1.2)),
    steps,
    place,
  );
  canvas.append(sheets);
  app().append(h('header', { class: 'drawing' }, tabs.element, tools), canvas, inspector, said);
  use('select');
  document.addEventListener('keydown', onKey);
  document.addEventListener('keyup', (event) => {
    if (event.key === ' ') {
      pointer.panning = false;
    }
  });
  window.addEventListener('blur', () => (pointer.panning = false));
  window.addEventListener('resize', () => zoom.resized());
  sheets.addEventListener('focusin', (event) => {
    const found = elementOf(event.target as Element);
    if (found === undefined || !selection.has(found.template, found.element)) {
      nudge.flush();
    }
    // A click that takes an edge selects nothing.
    const taken = simulated && typeof found?.element === 'number' && !found.group.matches(':focus-visible');
    if (found !== undefined && !taken && !selection.collecting && !selection.has(found.template, found.element)) {
      selection.set(found.template, [found.element]);
    }
  });
  // Assistive technology clicks without a pointer.
  sheets.addEventListener('click', (event) => {
    const found = event.detail === 0 ? elementOf(event.target as Element) : undefined;
    if (found !== undefined) {
      activate(found.group, event);
    }
  });
}

function choose(name: string): void {
  chosen = name;
  selection.template = name;
  selection.clear();
  zoom.reset();
  redraw();
}

let fileName = '';

function redraw(): void {
  if (drawing === undefined) {
    return;
  }
  pointer.cancel();
  const active = elementOf(document.activeElement);
  const onPicture = document.activeElement?.matches('svg[data-template]') ? document.activeElement.getAttribute('data-template') : null;
  tabs.draw(drawing.templates.map((t) => t.name), chosen, fileName);
  const shown = shownTemplates();
  zoom.remember(selection.template);
  sheets.replaceChildren(...shown.map((t) => section(t, textsOf(t.name), drawing?.processes.filter((p) => p.template === t.name).length ?? 0)));
  if (shown.length === 0) {
    sheets.append(h('p', {}, 'This model has no template.'));
  }
  zoom.draw(shown, shown.length === 1);
  light(canvas, drawing, step);
  showStep();
  showProblems(canvas, drawing, problems);
  selection.keep(templateOf(selection.template));
  if (active !== undefined) {
    groupOf(sheets, active.template, active.element)?.focus({ preventScroll: true });
  } else if (onPicture !== null) {
    sheets.querySelector<SVGElement>(`svg[data-template="${CSS.escape(onPicture)}"]`)?.focus({ preventScroll: true });
  }
}

function showSelection(): void {
  for (const group of sheets.querySelectorAll('g.node, g.edge')) {
    const found = elementOf(group);
    const own = found !== undefined && selection.has(found.template, found.element);
    group.classList.toggle('selected', own);
    group.setAttribute('aria-pressed', String(own));
  }
  showHandles(sheets, templateOf(selection.template), selection, refused === null, { perform, say, snapped, reconnect: deeds.reconnect });
  const template = selection.elements.size > 0 ? templateOf(selection.template) : current();
  // While a step is shown, the picture needs the room more than the names of templates.
  inspector.hidden = refused !== null || (step !== null && selection.elements.size === 0);
  inspect(inspector, refused === null ? template : undefined, [...selection.elements], textsOf(template?.name ?? ''), deeds);
}

function showStep(): void {
  steps.hidden = step === null;
  inspector.hidden = refused !== null || (step !== null && selection.elements.size === 0);
  place.textContent = step === null ? '' : `Step ${step.number} · t = ${step.time} · ${step.action}`;
}

function lock(reason: string | null): void {
  refused = reason;
  for (const control of tools.querySelectorAll<HTMLButtonElement>('button[data-tool]')) {
    control.disabled = reason !== null;
  }
  tabs.lock(reason !== null);
  if (reason !== null) {
    tool = 'select';
    say(`Editing is off: ${reason}.`);
  } else if (said.textContent?.startsWith('Editing is off')) {
    say('');
  }
}

/** A message instead of a picture. */
function empty(message: string): void {
  drawing = undefined;
  pending = undefined;
  field.close();
  tabs.clear();
  inspector.replaceChildren();
  sheets.replaceChildren(h('p', {}, message), h('p', {}, button('Open the Text', 'Open the text of this file', () => send({ type: 'text' }))));
}

window.addEventListener('message', (event: MessageEvent<ToDiagram>) => {
  const message = event.data;
  switch (message.type) {
    case 'drawing':
      drawing = message.drawing;
      problems = message.problems;
      fileName = message.name;
      chosen = drawing.templates.some((t) => t.name === chosen) ? chosen : '';
      nudge.drop();
      refused = message.refused;
      redraw();
      lock(message.refused);
      break;
    case 'problems':
      problems = message.problems;
      if (drawing !== undefined) {
        showProblems(canvas, drawing, problems);
      }
      break;
    case 'step':
      step = message.step;
      simulated = message.simulated;
      light(canvas, drawing, step);
      showStep();
      break;
    case 'hover':
      point(canvas, drawing, message.edges);
      break;
    case 'names':
      field.offer(message.names);
      break;
    case 'done': {
      const then = pending?.then;
      pending = undefined;
      canvas.removeAttribute('aria-busy');
      say(message.note === null ? `${message.title}.` : `${message.title}: ${message.note}.`);
      then?.(message.added);
      break;
    }
    case 'refused':
      pending = undefined;
      canvas.removeAttribute('aria-busy');
      say(message.message);
      if (field.isOpen) {
        field.refuse(message.message);
      } else {
        redraw();
      }
      break;
    case 'empty':
      empty(message.message);
      break;
  }
});

build();
send({ type: 'ready' });
