// The simulator's page: what can happen next, the values of the state, the walk.
import { words } from '../protocolSimulation';
import type { FromSimulatorPanel, SimulatedEdge, SimulationState, ToSimulatorPanel, Watched } from '../protocolSimulation';
import { Choices, Pointer } from './choices';
import { app, button, h, host, isTyping, keepInView, processFilter, sorted } from './dom';
import { RandomFields, RandomWalk } from './randomWalk';

/** What survives while the panel is hidden. */
interface Kept {
  watched?: string[];
  random?: RandomFields;
}

const kept: Kept = { ...((host.getState() as Kept | undefined) ?? {}) };
let hidden: string[] = [];
let watched: string[] = (kept.watched ?? []).slice();
let values: Watched[] = [];

const banner = h('p', { class: 'banner', role: 'alert', hidden: true });
const heading = h('h1', {});
const place = h('output', { class: 'place', 'aria-live': 'polite', role: 'status' });
const delay = h('input', { type: 'text', class: 'delay', size: 6, placeholder: '3/2', 'aria-label': 'Delay: a number, a fraction such as 3/2 or a decimal such as 1.5' });
const allowed = h('span', { class: 'allowed' });
const filter = h('details', { class: 'filter' });
const tree = h('section', { class: 'tree', 'aria-label': 'State' });
const watches = h('section', { class: 'watches', 'aria-label': 'Watched expressions' });
const zone = h('section', { class: 'zone', 'aria-label': 'Time and zone' });
const walk = h('section', { class: 'walk', 'aria-label': 'Walk' });
const pointer = new Pointer(send);
const choices = new Choices(send, pointer, take);
const random = new RandomWalk(
  (options) => send({ type: 'random', options }),
  (fields) => remember({ random: fields }),
  kept.random,
);

function send(message: FromSimulatorPanel): void {
  host.postMessage(message);
}

function remember(what: Kept): void {
  Object.assign(kept, what);
  host.setState(kept);
}

function wait(): void {
  if (delay.value.trim() !== '') {
    send({ type: 'delay', delay: delay.value.trim() });
    delay.value = '';
  }
}

/** A delay in the field is the time before the transition. */
function take(number: number): void {
  const before = delay.value.trim();
  delay.value = '';
  send(before === '' ? { type: 'take', number } : { type: 'take', number, delay: before });
}

function build(): void {
  delay.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      wait();
    }
  });
  const stepping = h(
    'div',
    { class: 'controls step-row', role: 'toolbar', 'aria-label': 'Walk' },
    button('|◀', 'Start again (Home)', () => send({ type: 'run', command: 'restart' })),
    button('◀', 'Back (Left, or p)', () => send({ type: 'run', command: 'back' })),
    button('▶', 'Forward (Right, or n)', () => send({ type: 'run', command: 'forward' })),
    place,
  );
  const time = h(
    'div',
    { class: 'controls', role: 'toolbar', 'aria-label': 'Time and chance' },
    h('span', { class: 'pair' }, delay, button('Wait', 'Let this much time pass (d moves to the field)', wait), allowed),
    random.buttons,
    button('Diagram', 'Show the templates: a click on an edge takes it', () => send({ type: 'show', what: 'diagram' })),
    button('Chart', 'Show the walk as a sequence chart', () => send({ type: 'show', what: 'chart' })),
    button('Text', 'Open the walk as text', () => send({ type: 'show', what: 'text' })),
    button('Save…', 'Save the walk as text or JSON', () => send({ type: 'show', what: 'save' })),
    filter,
  );
  // The values stand beside what can happen, under the controls.
  const main = h('main', { class: 'simulator' }, choices.element, h('section', { class: 'side' }, tree, watches, zone, walk));
  app().append(h('header', {}, heading, stepping, time, random.fields, banner), main);
  document.addEventListener('keydown', onKey);
}

const KEYS: Record<string, () => void> = {
  ArrowLeft: () => send({ type: 'run', command: 'back' }),
  p: () => send({ type: 'run', command: 'back' }),
  ArrowRight: () => send({ type: 'run', command: 'forward' }),
  n: () => send({ type: 'run', command: 'forward' }),
  Home: () => send({ type: 'run', command: 'restart' }),
  r: () => random.one(),
  d: () => delay.focus(),
  ArrowDown: () => choices.move(1),
  ArrowUp: () => choices.move(-1),
};

function onKey(event: KeyboardEvent): void {
  if (random.isRunning) {
    // Any key, whatever it would do otherwise.
    random.pause();
    event.preventDefault();
    return;
  }
  const action = KEYS[event.key];
  if (action !== undefined && !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    action();
  }
}

// ----------------------------------------------------------------------------------------------- the state

/** The process that a name belongs to, or nothing for a global one. */
function owner(name: string, processes: string[]): string {
  return processes.find((p) => name.startsWith(`${p}.`)) ?? '';
}

function drawTree(now: SimulationState): void {
  const processes = sorted(now.state.locations).map(([process]) => process);
  const rows = new Map<string, HTMLElement[]>([['', []], ...processes.map((p): [string, HTMLElement[]] => [p, []])]);
  const changes = new Map<string, number>();
  const add = (group: string, name: string, value: unknown, was: unknown): void => {
    const changed = was !== undefined && was !== value;
    changes.set(group, (changes.get(group) ?? 0) + (changed ? 1 : 0));
    rows.get(group)?.push(
      h(
        'tr',
        { class: changed ? 'changed' : '' },
        h('th', { scope: 'row' }, name),
        h('td', {}, String(value)),
        h('td', { class: 'was' }, changed ? `● was ${String(was)}` : ''),
      ),
    );
  };
  for (const [process, location] of sorted(now.state.locations)) {
    add(process, 'location', location, now.previous?.locations[process]);
  }
  const both: [Record<string, unknown>, Record<string, unknown> | undefined][] = [
    [now.state.variables, now.previous?.variables],
    [now.state.clocks, now.previous?.clocks],
  ];
  for (const [all, before] of both) {
    for (const [name, value] of sorted(all)) {
      const group = owner(name, processes);
      add(group, group === '' ? name : name.slice(group.length + 1), value, before?.[name]);
    }
  }
  const closed = new Set([...tree.querySelectorAll('details:not([open])')].map((d) => d.getAttribute('data-group')));
  const part = ([group, own]: [string, HTMLElement[]]): HTMLElement => {
    const location = group === '' ? '' : ` ${now.state.locations[group] ?? ''}`;
    const count = changes.get(group) ?? 0;
    const mark = count === 0 ? '' : ` ● ${count} changed`;
    return h(
      'details',
      { open: !closed.has(group), 'data-group': group },
      h('summary', {}, h('b', {}, group === '' ? 'Global' : group), location, h('span', { class: 'summary' }, mark)),
      h('table', {}, h('tbody', {}, ...own)),
    );
  };
  const shown = [...rows].filter(([group, own]) => own.length > 0 && !hidden.includes(group));
  tree.replaceChildren(h('h2', {}, 'State'), ...shown.map(part));
}

function drawZone(now: SimulationState): void {
  const text =
    now.zone === null
      ? ['Zone: …']
      : now.zone.kind === 'none'
        ? [`No zone: ${now.zone.reason}`]
        : now.zone.pieces.map((piece, i) => (i === 0 ? piece.text : `or ${piece.text}`));
  allowed.textContent = now.wait.window;
  allowed.title = `Time may pass by ${now.wait.window}: ${now.wait.message}`;
  zone.replaceChildren(
    h('p', { class: 'time' }, h('b', {}, `Time may pass by ${now.wait.window}`), ` ${now.wait.message}`),
    h('h2', {}, 'Zone', h('span', { class: 'summary' }, ' all clock values that some delays along this walk give')),
    ...text.map((line) => h('code', { class: 'piece' }, line)),
  );
}

function drawWatches(): void {
  const field = h('input', { type: 'text', placeholder: 'Watch an expression: P(1).x - P(2).x', 'aria-label': 'Expression to watch' });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && field.value.trim() !== '') {
      keep([...watched, field.value.trim()]);
      watches.querySelector('input')?.focus();
    }
  });
  const row = (expression: string, i: number): HTMLElement => {
    const value = values.find((v) => v.expression === expression);
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, expression),
      h('td', { class: value?.kind === 'error' ? 'error' : '' }, value === undefined ? '…' : value.value),
      h('td', { class: 'was' }, button('×', `Watch ${expression} no more`, () => keep(watched.filter((_, k) => k !== i)))),
    );
  };
  const table = watched.length === 0 ? [] : [h('table', {}, h('tbody', {}, ...watched.map(row)))];
  watches.replaceChildren(h('h2', {}, 'Watch'), ...table, field);
}

function keep(expressions: string[]): void {
  watched = expressions;
  remember({ watched });
  send({ type: 'watch', expressions: watched });
  drawWatches();
}

function drawWalk(now: SimulationState): void {
  const entry = (text: string, step: number, edges: SimulatedEdge[]): HTMLElement => {
    const here = step === now.step;
    const element = h('button', { type: 'button', class: here ? 'choice current' : 'choice', 'aria-current': here ? 'step' : undefined }, `${step}  ${text}`);
    element.addEventListener('click', () => send({ type: 'goto', step }));
    return h('li', {}, pointer.to(element, edges));
  };
  // A long walk is shown around the present state; all of it is in the chart and in the text.
  const from = Math.max(0, now.step - 100);
  const shown = now.walk.slice(from, now.step + 100);
  const steps = shown.map((step, i) => {
    const fixed = step.fixed ? ' (fixed)' : '';
    return entry(`after ${step.delay}${fixed}: ${words(step.transition)}`, from + i + 1, step.transition.edges);
  });
  walk.replaceChildren(
    h('h2', {}, 'Walk', h('span', { class: 'summary' }, ` ${now.length === 1 ? '1 step' : `${now.length} steps`}`)),
    h('ol', { class: 'choices-list' }, entry('start', 0, []), ...steps),
  );
  keepInView(walk.querySelector('.current'));
}

function say(message: string): void {
  banner.hidden = message === '';
  if (banner.textContent !== message) {
    banner.textContent = message;
  }
}

function show(now: SimulationState): void {
  const file = decodeURIComponent(now.model.split('/').pop() ?? '');
  heading.textContent = `Simulation of ${file}`;
  const last = now.walk[now.step - 1];
  const waited = now.waited === '0' ? '' : `, ${now.waited} of it since the last step`;
  const what = last === undefined ? 'start' : words(last.transition);
  const dead = now.possible.length === 0 && now.choosing === null && now.complete ? ' · nothing is possible' : '';
  const text = `Step ${now.step} of ${now.length} · t = ${now.time}${waited} · ${what}${dead}`;
  if (place.textContent !== text) {
    place.textContent = text;
  }
  const limited = now.complete ? '' : 'Not everything that may happen was examined.';
  say([now.message === null ? '' : `${now.message}.`, limited].filter((m) => m !== '').join(' '));
  random.shown(now);
  choices.draw(now);
  drawZone(now);
  drawTree(now);
  processFilter(filter, now.state.locations, hidden, (chosen) => send({ type: 'filter', hidden: chosen }));
  drawWalk(now);
  pointer.check();
}

window.addEventListener('message', (event: MessageEvent<ToSimulatorPanel>) => {
  const message = event.data;
  if (message.type === 'state') {
    hidden = message.hidden;
    show(message.state);
  } else if (message.type === 'watched') {
    values = message.values;
    drawWatches();
  } else if (message.type === 'refused') {
    random.pause();
    say(message.message);
  } else {
    random.pause();
    app().replaceChildren(h('p', {}, 'No simulation is open. Run “Zonelens: Simulate”.'));
  }
});

build();
drawWatches();
if (watched.length > 0) {
  send({ type: 'watch', expressions: watched });
}
send({ type: 'ready' });
