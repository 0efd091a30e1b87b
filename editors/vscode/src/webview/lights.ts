// What is marked in the pictures: the step of the open trace, the transition that is pointed at, problems of the text.
import type { DiagramStep, Drawing, Problem, TextRange } from '../protocol';
import { s, sorted } from './dom';
import { CHAR } from './picture';

const MAX_NAMES = 3;

/** Marks the locations of a step and the edges taken, by words and line widths, not only colours. */
export function light(canvas: Element, drawing: Drawing | undefined, step: DiagramStep | null): void {
  for (const picture of canvas.querySelectorAll('svg')) {
    const own = processes(drawing, picture);
    for (const group of picture.querySelectorAll('g.node')) {
      lightNode(group, own, step);
    }
    for (const group of picture.querySelectorAll('g.edge')) {
      const id = group.getAttribute('data-edge');
      const taken = step?.edges.some((e) => own.has(e.process) && e.edge !== null && String(e.edge) === id);
      group.classList.toggle('taken', taken === true);
    }
  }
}

/** Marks the edges of the transition that is pointed at in the simulator. */
export function point(canvas: Element, drawing: Drawing | undefined, edges: { process: string; edge: number | null }[]): void {
  for (const picture of canvas.querySelectorAll('svg')) {
    const own = processes(drawing, picture);
    for (const group of picture.querySelectorAll('g.edge')) {
      const id = group.getAttribute('data-edge');
      group.classList.toggle('pointed', edges.some((e) => own.has(e.process) && String(e.edge) === id));
    }
  }
}

function processes(drawing: Drawing | undefined, picture: Element): Set<string> {
  const template = picture.getAttribute('data-template');
  return new Set(drawing?.processes.filter((p) => p.template === template).map((p) => p.name));
}

function lightNode(group: Element, own: Set<string>, step: DiagramStep | null): void {
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
  speak(group, 'here', here.length === 0 ? '' : `here: ${here.join(', ')}`);
}

/** Adds something to the spoken name of an element, in place of what was added with the same key. */
function speak(group: Element, key: 'here' | 'problems', words: string): void {
  group.setAttribute(`data-${key}`, words);
  const parts = ['words', 'here', 'problems'].map((name) => group.getAttribute(`data-${name}`) ?? '');
  group.setAttribute('aria-label', parts.filter((part) => part !== '').join(', '));
}

// -------------------------------------------------------------------------------------------- problems

function before(a: TextRange['start'], b: TextRange['start']): boolean {
  return a.line < b.line || (a.line === b.line && a.character < b.character);
}

function touches(a: TextRange, b: TextRange): boolean {
  return !before(a.end, b.start) && !before(b.end, a.start);
}

/** The problems of a label that is written at `range`. */
export function problemsAt(problems: Problem[], range: TextRange): Problem[] {
  return problems.filter((p) => !p.dimmed && p.severity !== 'hint' && touches(p.range, range));
}

/** Draws the problems of the text: under labels, else beside their element. What is never reached is dimmed. */
export function showProblems(canvas: Element, drawing: Drawing, problems: Problem[]): void {
  canvas.querySelectorAll('.squiggle, .fault').forEach((mark) => mark.remove());
  for (const picture of canvas.querySelectorAll('svg')) {
    const template = drawing.templates.find((t) => t.name === picture.getAttribute('data-template'));
    const texts = drawing.texts?.[template?.name ?? '']?.labels ?? [];
    const mark = (group: Element | null, id: string | number, range: TextRange): void => {
      if (group === null) {
        return;
      }
      const own = problems.filter((p) => touches(p.range, range));
      const shown = own.filter((p) => !p.dimmed && p.severity !== 'hint');
      const rest = new Set(shown);
      for (const text of texts.filter((t) => t.of === id)) {
        const here = problemsAt(shown, text.range);
        const label = group.querySelector(`text.label[data-label="${text.label}"]`);
        if (here.length > 0 && label !== null) {
          here.forEach((problem) => rest.delete(problem));
          label.after(squiggle(label, here));
        }
      }
      if (rest.size > 0) {
        group.append(fault(group, [...rest]));
      }
      group.classList.toggle('never', own.some((p) => p.dimmed));
      speak(group, 'problems', own.filter((p) => p.severity !== 'hint' || p.dimmed).map((p) => `${p.dimmed ? 'note' : p.severity}: ${p.message}`).join(', '));
    };
    template?.nodes.forEach((node) => mark(picture.querySelector(`g.node[data-name="${CSS.escape(node.name)}"]`), node.id, node.range));
    template?.edges.forEach((edge) => mark(picture.querySelector(`g.edge[data-edge="${edge.id}"]`), edge.id, edge.range));
  }
}

/** A wavy line under a label. */
function squiggle(label: Element, problems: Problem[]): SVGElement {
  const width = Math.max(1, [...(label.textContent ?? '')].length) * CHAR;
  const x = Number(label.getAttribute('x')) - (label.getAttribute('text-anchor') === 'middle' ? width / 2 : 0);
  const y = Number(label.getAttribute('y')) + 3;
  const waves = Math.max(2, Math.round(width / 4));
  const path = Array.from({ length: waves }, (_, i) => `L${x + ((i + 1) * width) / waves},${y + (i % 2 === 0 ? 2.5 : 0)}`);
  return s('path', { class: `squiggle ${worst(problems)}`, d: `M${x},${y} ${path.join(' ')}` }, s('title', {}, messages(problems)));
}

/** A sign beside an element whose problem is in none of its labels. */
function fault(group: Element, problems: Problem[]): SVGElement {
  const part = group.querySelector<SVGGraphicsElement>('.outline, polygon');
  const box = part?.getBBox() ?? { x: 0, y: 0, width: 0, height: 0 };
  return s('text', { class: `fault ${worst(problems)}`, x: box.x + box.width + 2, y: box.y + 4 }, '⚠', s('title', {}, messages(problems)));
}

function worst(problems: Problem[]): string {
  return problems.some((p) => p.severity === 'error') ? 'error' : 'warning';
}

function messages(problems: Problem[]): string {
  return problems.map((p) => p.message).join('\n');
}
