// The trace panel's page: a sequence chart, the list of steps, the values of the current one.
import type { Chart, FromTracePanel, ToTracePanel, TraceStep, WholeTrace } from '../protocol';
import { app, button, h, host, isTyping, keepInView, processFilter, s, sorted } from './dom';

let trace: WholeTrace | undefined;
let current = 0;
/** The last requested step, until the server has moved to it. */
let wanted: number | undefined;
let stale = false;
let hidden: string[] = [];

const banner = h('p', { class: 'banner', role: 'alert', hidden: true });
const heading = h('code', { class: 'query' });
const summary = h('span', { class: 'summary' });
const place = h('output', { class: 'place', 'aria-live': 'polite' });
const filter = h('details', { class: 'filter' });
const chartBox = h('div', { class: 'chart', tabindex: 0, role: 'group', 'aria-label': 'Sequence chart; the list of steps has the same content in words' });
const list = h('ol', { class: 'steps', role: 'listbox', tabindex: 0, 'aria-label': 'Steps', start: 0 });
const values = h('div', { class: 'values' });

function send(message: FromTracePanel): void {
  host.postMessage(message);
}

function goto(step: number): void {
  const last = (trace?.steps.length ?? 1) - 1;
  const to = Math.max(0, Math.min(last, step));
  if (to !== current) {
    // Update immediately: keys arrive faster than answers.
    wanted = to;
    current = to;
    showStep();
    send({ type: 'goto', step: to });
  }
}

function jump(): void {
  const edge = trace?.steps[current]?.edges[0];
  if (edge) {
    send({ type: 'jump', line: edge.line });
  }
}

// ---------------------------------------------------------------------------------------------- the page

function build(): void {
  const controls = h(
    'div',
    { class: 'controls step-row', role: 'toolbar', 'aria-label': 'Step through the trace' },
    button('|◀', 'First step (Home)', () => goto(0)),
    button('◀', 'Previous step (Up)', () => goto(current - 1)),
    button('▶', 'Next step (Down)', () => goto(current + 1)),
    button('▶|', 'Last step (End)', () => goto(trace ? trace.steps.length - 1 : 0)),
    place,
    button('Go to edge', 'Show the edge of this step in the text (Enter)', jump),
    button('Diagram', 'Show the templates with the current locations', () => send({ type: 'diagram' })),
    button('Simulate', 'Simulate from this step on', () => send({ type: 'simulate' })),
    button('Text', 'Open the trace as text', () => send({ type: 'text' })),
    filter,
  );
  app().append(
    h('header', {}, h('h1', {}, heading), summary, banner, controls),
    // The values stand under the controls: they are what changes with a step.
    h('main', { class: 'trace' }, chartBox, h('section', { class: 'side' }, values, h('div', { class: 'list' }, h('h2', {}, 'Steps'), list))),
  );
  document.addEventListener('keydown', onKey);
}

const KEYS: Record<string, () => void> = {
  ArrowDown: () => goto(current + 1),
  ArrowRight: () => goto(current + 1),
  ArrowUp: () => goto(current - 1),
  ArrowLeft: () => goto(current - 1),
  j: () => goto(current + 1),
  k: () => goto(current - 1),
  Home: () => goto(0),
  End: () => goto((trace?.steps.length ?? 1) - 1),
  Enter: jump,
};

function onKey(event: KeyboardEvent): void {
  const action = KEYS[event.key];
  const pressing = event.target instanceof HTMLButtonElement && event.key === 'Enter';
  if (action === undefined || isTyping(event.target) || pressing || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  event.preventDefault();
  action();
}

// --------------------------------------------------------------------------------------------- the chart

function drawChart(whole: WholeTrace): void {
  const chart = whole.chart;
  const picture = s('svg', {
    width: chart.width,
    height: chart.height,
    viewBox: `0 0 ${chart.width} ${chart.height}`,
    'aria-hidden': 'true',
  });
  for (const row of chart.rows) {
    picture.append(rowBand(chart, row));
  }
  for (const lane of chart.lanes) {
    picture.append(
      s('line', { class: 'life', x1: lane.x, y1: chart.top, x2: lane.x, y2: chart.height - 6 }),
      s('text', { class: 'lane', x: lane.x, y: 26, 'text-anchor': 'middle' }, lane.process),
    );
  }
  picture.append(s('line', { class: 'axis', x1: 84, y1: chart.top, x2: 84, y2: chart.height - 6 }));
  picture.append(s('text', { class: 'time', x: 28, y: 26 }, 'time'));
  chart.rows.forEach((row, i) => picture.append(...tick(row, i === 0)));
  chart.arrows.forEach((arrow) => picture.append(...sync(chart, arrow)));
  chart.marks.forEach((mark) => picture.append(...box(chart, mark)));
  chartBox.replaceChildren(picture);
}

function rowBand(chart: Chart, row: Chart['rows'][number]): SVGElement {
  const band = s(
    'rect',
    { class: 'band', 'data-step': row.step, x: 1, y: row.y - 17, width: Math.max(chart.width - 2, 1), height: 34, rx: 4 },
    s('title', {}, `Step ${row.step}: ${row.action}`),
  );
  band.addEventListener('click', () => goto(row.step));
  return band;
}

function tick(row: Chart['rows'][number], first: boolean): SVGElement[] {
  const parts: SVGElement[] = [
    s('line', { class: 'axis', x1: 80, y1: row.y, x2: 88, y2: row.y }),
    s('text', { class: 'number', 'data-step': row.step, x: 22, y: row.y + 4, 'text-anchor': 'end' }, String(row.step)),
  ];
  if (row.later || first) {
    parts.push(s('text', { class: 'time', x: 28, y: row.y + 4 }, `t = ${row.time}`));
  }
  return parts;
}

function half(chart: Chart, step: number, lane: number): number {
  return chart.marks.find((m) => m.step === step && m.lane === lane)?.half ?? 0;
}

function sync(chart: Chart, arrow: Chart['arrows'][number]): SVGElement[] {
  const from = chart.lanes[arrow.from];
  const to = chart.lanes[arrow.to];
  if (!from || !to) {
    return [];
  }
  const side = Math.sign(to.x - from.x);
  const start = from.x + side * half(chart, arrow.step, arrow.from);
  const tip = to.x - side * half(chart, arrow.step, arrow.to);
  const y = arrow.y;
  return [
    s('path', { class: 'arrow', d: `M${start} ${y} L${tip - side * 8} ${y}` }),
    s('polygon', { class: 'head', points: `${tip},${y} ${tip - side * 10},${y - 4} ${tip - side * 10},${y + 4}` }),
    ...(arrow.label === '' ? [] : [s('text', { class: 'channel', x: (start + tip) / 2, y: y - 5, 'text-anchor': 'middle' }, arrow.label)]),
  ];
}

function box(chart: Chart, mark: Chart['marks'][number]): SVGElement[] {
  const lane = chart.lanes[mark.lane];
  if (!lane) {
    return [];
  }
  const frame = s(
    'rect',
    { class: 'mark', 'data-step': mark.step, x: lane.x - mark.half, y: mark.y - 11, width: 2 * mark.half, height: 22, rx: 11 },
    s('title', {}, `${lane.process} enters ${mark.location}; click for the edge`),
  );
  frame.addEventListener('click', () => {
    const edge = trace?.steps[mark.step]?.edges.find((e) => e.process === lane.process);
    goto(mark.step);
    if (edge) {
      send({ type: 'jump', line: edge.line });
    }
  });
  return [frame, s('text', { class: 'location', x: lane.x, y: mark.y + 4, 'text-anchor': 'middle' }, mark.location)];
}

// -------------------------------------------------------------------------------------- steps and values

function drawSteps(whole: WholeTrace): void {
  const shown = new Set(whole.chart.rows.map((r) => r.step));
  const entry = (step: TraceStep, i: number): HTMLElement => {
    const edges = step.edges.map((e) => `${e.process}: ${e.from} → ${e.to}`).join(', ');
    const option = h(
      'li',
      { role: 'option', id: `step-${i}`, 'data-step': i, value: i, class: shown.has(i) ? '' : 'filtered' },
      h('span', { class: 'when' }, `t = ${step.time}`),
      ' ',
      h('span', { class: 'what' }, edges === '' ? step.action : edges),
      h('span', { class: 'changes' }, i === 0 ? '' : step.changes.join(', ')),
    );
    option.addEventListener('click', () => goto(i));
    option.addEventListener('dblclick', jump);
    return option;
  };
  list.replaceChildren(...whole.steps.map(entry));
}

function table(caption: string, now: Record<string, unknown>, before: Record<string, unknown> | undefined): HTMLElement {
  const rows = sorted(now).map(([name, value]) => {
    const was = before?.[name];
    const changed = before !== undefined && was !== value;
    return h(
      'tr',
      { class: changed ? 'changed' : '' },
      h('th', { scope: 'row' }, name),
      h('td', {}, String(value)),
      h('td', { class: 'was' }, changed ? `● was ${String(was)}` : ''),
    );
  });
  if (rows.length === 0) {
    return h('p', { class: 'none' }, `No ${caption.toLowerCase()}.`);
  }
  return h('table', {}, h('caption', {}, caption), h('tbody', {}, ...rows));
}

function drawValues(whole: WholeTrace): void {
  const now = whole.steps[current]?.state;
  const before = whole.steps[current - 1]?.state;
  if (!now) {
    return;
  }
  values.replaceChildren(
    h('h2', {}, `After step ${current}`),
    table('Variables', now.variables, before?.variables),
    table('Clocks', now.clocks, before?.clocks),
    table('Locations', now.locations, before?.locations),
  );
}

function showStep(): void {
  const step = trace?.steps[current];
  if (trace === undefined || step === undefined) {
    return;
  }
  for (const element of document.querySelectorAll('[data-step]')) {
    const here = element.getAttribute('data-step') === String(current);
    element.classList.toggle('current', here);
    if (element.getAttribute('role') === 'option') {
      element.setAttribute('aria-selected', String(here));
    }
  }
  list.setAttribute('aria-activedescendant', `step-${current}`);
  place.textContent = `Step ${current} of ${trace.steps.length - 1} · t = ${step.time} · ${step.action}`;
  keepInView(document.getElementById(`step-${current}`));
  keepInView(chartBox.querySelector('.band.current'));
  drawValues(trace);
}

function showTrace(whole: WholeTrace): void {
  trace = whole;
  wanted = undefined;
  current = whole.step;
  heading.textContent = whole.query;
  summary.textContent = whole.summary;
  drawChart(whole);
  drawSteps(whole);
  processFilter(filter, whole.steps[0]?.state.locations ?? {}, hidden, (chosen) => send({ type: 'filter', hidden: chosen }));
  showStep();
}

function showBanner(): void {
  banner.hidden = !stale;
  banner.textContent = stale ? '⚠ The model has changed: this trace may no longer be valid. Verify again.' : '';
}

window.addEventListener('message', (event: MessageEvent<ToTracePanel>) => {
  const message = event.data;
  if (message.type === 'trace') {
    hidden = message.hidden;
    showTrace(message.trace);
  } else if (message.type === 'step') {
    // Answers to requests before the last key are ignored.
    if (wanted === undefined || wanted === message.step) {
      wanted = undefined;
      current = message.step;
      showStep();
    }
  } else if (message.type === 'stale') {
    stale = message.stale;
    showBanner();
  } else {
    app().replaceChildren(h('p', {}, 'No trace is open. Click the trace lens above a query.'));
  }
});

build();
send({ type: 'ready' });
