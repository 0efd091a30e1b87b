// The simulator's page: what can happen next, the values of the state, the walk.
import type { FromSimulatorPanel, Reason, SimulatedEdge, SimulationState, ToSimulatorPanel, Transition, Watched } from '../protocolSimulation';
import { app, button, h, host, isTyping } from './dom';

let state: SimulationState | undefined;
let hidden: string[] = [];
let watched: string[] = ((host.getState() as { watched?: string[] } | undefined)?.watched ?? []).slice();
let values: Watched[] = [];
/** Groups of more than 20 transitions that the user opened. */
const opened = new Set<string>();
/** While transitions are taken at random by themselves. */
let timer: number | undefined;

const banner = h('p', { class: 'banner', role: 'alert', hidden: true });
const heading = h('h1', {});
const place = h('output', { class: 'place', 'aria-live': 'polite', role: 'status' });
const delay = h('input', { type: 'text', class: 'delay', size: 6, placeholder: '3/2', 'aria-label': 'Delay: a number, a fraction such as 3/2 or a decimal such as 1.5' });
const seed = h('input', { type: 'number', class: 'seed', min: 0, step: 1, value: 1, 'aria-label': 'Seed of the random walk' });
const speed = h('input', { type: 'range', class: 'speed', min: 1, max: 20, step: 1, value: 2, 'aria-label': 'Steps of the random walk per second' });
const rate = h('span', { class: 'summary' });
const run = button('Run', 'Take random transitions until a key is pressed', () => (timer === undefined ? go() : pause()));
const filter = h('details', { class: 'filter' });
const choices = h('section', { class: 'lists', 'aria-label': 'Transitions' });
const tree = h('section', { class: 'tree', 'aria-label': 'State' });
const watches = h('section', { class: 'watches', 'aria-label': 'Watched expressions' });
const zone = h('section', { class: 'zone', 'aria-label': 'Time and zone' });
const walk = h('section', { class: 'walk', 'aria-label': 'Walk' });

function send(message: FromSimulatorPanel): void {
  host.postMessage(message);
}

function wait(): void {
  if (delay.value.trim() !== '') {
    send({ type: 'delay', delay: delay.value.trim() });
    delay.value = '';
  }
}

/** Another seed for each step, the same ones for the same first seed. */
function random(): void {
  const first = Math.max(0, Math.floor(Number(seed.value) || 0));
  send({ type: 'random', seed: first + (state?.length ?? 0) });
}

function go(): void {
  const step = (): void => {
    if (timer !== undefined) {
      random();
    }
  };
  timer = window.setInterval(step, 1000 / Number(speed.value));
  run.textContent = 'Pause';
  step();
}

function pause(): void {
  window.clearInterval(timer);
  timer = undefined;
  run.textContent = 'Run';
}

function build(): void {
  const showRate = (): void => {
    rate.textContent = `${speed.value}/s`;
  };
  speed.addEventListener('input', () => {
    showRate();
    if (timer !== undefined) {
      pause();
      go();
    }
  });
  showRate();
  delay.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      wait();
    }
  });
  const stepping = h(
    'div',
    { class: 'controls', role: 'toolbar', 'aria-label': 'Walk' },
    button('|◀', 'Start again (Home)', () => send({ type: 'run', command: 'restart' })),
    button('◀', 'Back (Left, or p)', () => send({ type: 'run', command: 'back' })),
    button('▶', 'Forward (Right, or n)', () => send({ type: 'run', command: 'forward' })),
    place,
  );
  const time = h(
    'div',
    { class: 'controls', role: 'toolbar', 'aria-label': 'Time and chance' },
    h('span', { class: 'pair' }, delay, button('Wait', 'Let this much time pass (d moves to the field)', wait)),
    h('span', { class: 'pair' }, button('Random', 'Take a random transition (r)', random), h('label', {}, 'seed ', seed)),
    h('span', { class: 'pair' }, run, speed, rate),
    button('Diagram', 'Show the templates: a click on an edge takes it', () => send({ type: 'show', what: 'diagram' })),
    button('Chart', 'Show the walk as a sequence chart', () => send({ type: 'show', what: 'chart' })),
    button('Text', 'Open the walk as text', () => send({ type: 'show', what: 'text' })),
    filter,
  );
  app().append(
    h('header', {}, heading, stepping, time, banner),
    h('main', { class: 'simulator' }, choices, h('section', { class: 'side' }, zone, tree, watches, walk)),
  );
  document.addEventListener('keydown', onKey);
}

const KEYS: Record<string, () => void> = {
  ArrowLeft: () => send({ type: 'run', command: 'back' }),
  p: () => send({ type: 'run', command: 'back' }),
  ArrowRight: () => send({ type: 'run', command: 'forward' }),
  n: () => send({ type: 'run', command: 'forward' }),
  Home: () => send({ type: 'run', command: 'restart' }),
  r: random,
  d: () => delay.focus(),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
};

/** The focus goes from one transition to the next. */
function move(by: number): void {
  const all = [...choices.querySelectorAll<HTMLButtonElement>('button')];
  const at = all.indexOf(document.activeElement as HTMLButtonElement);
  const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))];
  next?.focus();
}

function onKey(event: KeyboardEvent): void {
  if (timer !== undefined) {
    // Any key, whatever it would do otherwise.
    pause();
    event.preventDefault();
    return;
  }
  const action = KEYS[event.key];
  if (action !== undefined && !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    action();
  }
}

// ----------------------------------------------------------------------------------------- the transitions

function words(transition: Transition): string {
  const edges = transition.edges.map((edge) => {
    const select = Object.entries(edge.select).map(([name, value]) => `${name} = ${value}`);
    return `${edge.process}: ${edge.from} → ${edge.to}${select.length > 0 ? ` [${select.join(', ')}]` : ''}`;
  });
  return edges.join(', ');
}

function reasonText(reason: Reason | null): string {
  if (reason === null) {
    return '';
  }
  return reason.line > 0 ? `${reason.message} (line ${reason.line})` : reason.message;
}

/** Pointing at it, or reaching it with the keyboard, marks its edges in text and picture. */
function pointing<E extends HTMLElement>(element: E, edges: SimulatedEdge[]): E {
  for (const name of ['mouseenter', 'focus']) {
    element.addEventListener(name, () => send({ type: 'hover', edges }));
  }
  for (const name of ['mouseleave', 'blur']) {
    element.addEventListener(name, () => send({ type: 'hover', edges: [] }));
  }
  return element;
}

/** A delay in the field is the time before the transition. */
function take(number: number): void {
  const before = delay.value.trim();
  delay.value = '';
  send(before === '' ? { type: 'take', number } : { type: 'take', number, delay: before });
}

function choice(number: number, transition: Transition, detail: string, after: string): HTMLElement {
  const element = h(
    'button',
    { type: 'button', class: 'choice', 'data-number': number },
    h('span', { class: 'what' }, words(transition)),
    transition.channel === null ? '' : h('span', { class: 'channel' }, transition.channel),
    h('span', { class: 'window' }, detail),
    after === '' ? '' : h('span', { class: 'reason' }, after),
  );
  element.addEventListener('click', () => take(number));
  return h('li', {}, pointing(element, transition.edges));
}

function possible(now: SimulationState): HTMLElement[] {
  const items: HTMLElement[] = [];
  now.groups.forEach((group, index) => {
    const own = now.possible.filter((p) => p.group === index);
    const key = `${group.process} ${group.from} ${group.to} ${group.first}`;
    if (group.folded && !opened.has(key)) {
      const unfold = h(
        'button',
        { type: 'button', class: 'choice', 'aria-expanded': 'false' },
        `${group.process}: ${group.from} → ${group.to}, ${group.count} choices…`,
      );
      unfold.addEventListener('click', () => {
        opened.add(key);
        drawChoices(now);
      });
      items.push(h('li', {}, pointing(unfold, own[0]?.transition.edges.slice(0, 1) ?? [])));
    } else {
      items.push(...own.map((p) => choice(p.number, p.transition, `after ${p.window}`, '')));
    }
  });
  return items;
}

function list(title: string, items: HTMLElement[], none: string): HTMLElement[] {
  const head = h('h2', {}, title, h('span', { class: 'summary' }, ` ${items.length}`));
  return [head, items.length === 0 ? h('p', { class: 'none' }, none) : h('ul', { class: 'choices-list', 'aria-label': title }, ...items)];
}

function drawChoices(now: SimulationState): void {
  const at = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.number : undefined;
  if (now.choosing !== null) {
    const { process, options, left } = now.choosing;
    const items = options.map((edge, i) => choice(i, { channel: null, edges: [edge] }, '', ''));
    choices.replaceChildren(...list(`Choose what ${process} does (${left} left)`, items, 'Nothing.'));
    return;
  }
  const others = (now.otherDelays ?? []).map((o) => choice(o.number, o.transition, '', reasonText(o.reason)));
  const blocked = now.blocked.map((b) => {
    const range = b.reason.range;
    const jump = h(
      'button',
      { type: 'button', class: 'choice blocked', title: 'Show the reason in the text' },
      h('span', { class: 'what' }, words(b.transition)),
      h('span', { class: 'reason' }, reasonText(b.reason)),
    );
    jump.addEventListener('click', () => range !== null && send({ type: 'jump', line: range.start.line }));
    return h('li', {}, pointing(jump, b.transition.edges));
  });
  const unknown = now.zone === null ? 'The zone is not known yet.' : 'None.';
  choices.replaceChildren(
    ...list('Possible', possible(now), 'Nothing, however long one waits.'),
    ...list('Possible with other delays before', others, unknown),
    ...list('Blocked', blocked, 'None.'),
    ...(now.leftOut > 0 ? [h('p', { class: 'none' }, `${now.leftOut} more are not listed.`)] : []),
  );
  if (at !== undefined) {
    choices.querySelector<HTMLElement>(`[data-number="${at}"]`)?.focus();
  }
}

// ----------------------------------------------------------------------------------------------- the state

/** The process that a name belongs to, or nothing for a global one. */
function owner(name: string, processes: string[]): string {
  return processes.find((p) => name.startsWith(`${p}.`)) ?? '';
}

function drawTree(now: SimulationState): void {
  const processes = Object.keys(now.state.locations);
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
  for (const [process, location] of Object.entries(now.state.locations)) {
    add(process, 'location', location, now.previous?.locations[process]);
  }
  const both: [Record<string, unknown>, Record<string, unknown> | undefined][] = [
    [now.state.variables, now.previous?.variables],
    [now.state.clocks, now.previous?.clocks],
  ];
  for (const [all, before] of both) {
    for (const [name, value] of Object.entries(all)) {
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

function drawFilter(now: SimulationState): void {
  const processes = Object.keys(now.state.locations);
  const box = (process: string): HTMLElement => {
    const check = h('input', { type: 'checkbox', checked: !hidden.includes(process) });
    check.addEventListener('change', () => {
      hidden = check.checked ? hidden.filter((p) => p !== process) : [...hidden, process];
      send({ type: 'filter', hidden });
    });
    return h('label', {}, check, process);
  };
  const open = filter.open;
  const word = hidden.length === 0 ? 'all' : `${processes.length - hidden.length} of ${processes.length}`;
  filter.replaceChildren(h('summary', {}, `Processes: ${word}`), h('div', { class: 'choices' }, ...processes.map(box)));
  filter.open = open;
}

function drawZone(now: SimulationState): void {
  const text =
    now.zone === null
      ? ['Zone: …']
      : now.zone.kind === 'none'
        ? [`No zone: ${now.zone.reason}`]
        : now.zone.pieces.map((piece, i) => (i === 0 ? piece.text : `or ${piece.text}`));
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
  host.setState({ watched });
  send({ type: 'watch', expressions: watched });
  drawWatches();
}

function drawWalk(now: SimulationState): void {
  const entry = (text: string, step: number, edges: SimulatedEdge[]): HTMLElement => {
    const here = step === now.step;
    const element = h('button', { type: 'button', class: here ? 'choice current' : 'choice', 'aria-current': here ? 'step' : undefined }, `${step}  ${text}`);
    element.addEventListener('click', () => send({ type: 'goto', step }));
    return h('li', {}, pointing(element, edges));
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
  walk.querySelector('.current')?.scrollIntoView({ block: 'nearest' });
}

function show(now: SimulationState): void {
  const before = state;
  state = now;
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
  const message = [now.message === null ? '' : `${now.message}.`, limited].filter((m) => m !== '').join(' ');
  banner.hidden = message === '';
  if (banner.textContent !== message) {
    banner.textContent = message;
  }
  if (timer !== undefined && (now.possible.length === 0 || (now.revision === before?.revision && now.message !== null))) {
    pause();
  }
  drawChoices(now);
  drawZone(now);
  drawTree(now);
  drawFilter(now);
  drawWalk(now);
}

window.addEventListener('message', (event: MessageEvent<ToSimulatorPanel>) => {
  const message = event.data;
  if (message.type === 'state') {
    hidden = message.hidden;
    show(message.state);
  } else if (message.type === 'watched') {
    values = message.values;
    drawWatches();
  } else {
    pause();
    app().replaceChildren(h('p', {}, 'No simulation is open. Run “Zonelens: Simulate”.'));
  }
});

build();
drawWatches();
if (watched.length > 0) {
  send({ type: 'watch', expressions: watched });
}
send({ type: 'ready' });
