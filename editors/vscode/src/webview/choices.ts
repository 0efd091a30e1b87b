// The lists of the simulator: what is possible, what is with other delays, what is blocked and why.
import { grouped } from '../numbers';
import { words } from '../protocolSimulation';
import type { FromSimulatorPanel, Reason, SimulatedEdge, SimulationState, Transition } from '../protocolSimulation';
import { button, h } from './dom';

function reasonText(reason: Reason | null): string {
  if (reason === null) {
    return '';
  }
  return reason.line > 0 ? `${reason.message} (line ${reason.line})` : reason.message;
}

/** Marks the edges of what is pointed at, in text and picture. */
export class Pointer {
  private pointed: HTMLElement | undefined;

  constructor(private readonly send: (message: FromSimulatorPanel) => void) {}

  /** Pointing at `element`, or reaching it with the keyboard, marks the edges. */
  to<E extends HTMLElement>(element: E, edges: SimulatedEdge[]): E {
    for (const name of ['mouseenter', 'focus']) {
      element.addEventListener(name, () => {
        this.pointed = element;
        this.send({ type: 'hover', edges });
      });
    }
    for (const name of ['mouseleave', 'blur']) {
      element.addEventListener(name, () => this.away());
    }
    return element;
  }

  /** An element that is gone does not say that the pointer left it. */
  check(): void {
    if (this.pointed?.isConnected === false) {
      this.away();
    }
  }

  private away(): void {
    this.pointed = undefined;
    this.send({ type: 'hover', edges: [] });
  }
}

/** The lists. One that did not change stays as it is: a click that has begun is not lost when the zone arrives. */
export class Choices {
  readonly element = h('section', { class: 'lists', 'aria-label': 'Transitions' });

  private readonly parts = Array.from({ length: 3 }, () => h('div', {}));
  private readonly shown = ['', '', ''];
  private readonly rest = h('p', { class: 'none', hidden: true });
  /** Groups of more than 20 transitions that the user opened. */
  private readonly opened = new Set<string>();

  constructor(
    private readonly send: (message: FromSimulatorPanel) => void,
    private readonly pointer: Pointer,
    private readonly take: (number: number) => void,
  ) {
    this.element.append(...this.parts, this.rest);
  }

  /** Shows what can happen in a state. */
  draw(now: SimulationState): void {
    const focused = document.activeElement;
    const at = focused instanceof HTMLElement && this.element.contains(focused) ? focused.dataset.key : undefined;
    if (now.choosing !== null) {
      this.part(0, [now.choosing, now.revision], () => this.receivers(now));
      this.part(1, [], () => []);
      this.part(2, [], () => []);
    } else {
      const unknown = now.zone === null ? 'The zone is not known yet.' : 'None.';
      this.part(0, [now.possible, now.groups, [...this.opened]], () => list('Possible', this.possible(now), now.possible.length, 'Nothing, however long one waits.'));
      this.part(1, [now.otherDelays, unknown], () => {
        const others = (now.otherDelays ?? []).map((o) => this.choice(o.number, o.transition, '', reasonText(o.reason)));
        return list('Possible with other delays before', others, others.length, unknown);
      });
      this.part(2, [now.blocked], () => list('Blocked', this.blocked(now), now.blocked.length, 'None.'));
    }
    this.rest.hidden = now.leftOut === 0 || now.choosing !== null;
    this.rest.textContent = `${grouped(now.leftOut)} more are not listed.`;
    if (at !== undefined && focused?.isConnected === false) {
      this.element.querySelector<HTMLElement>(`[data-key="${CSS.escape(at)}"]`)?.focus();
    }
  }

  /** The focus goes from one transition to the next. */
  move(by: number): void {
    const all = [...this.element.querySelectorAll<HTMLButtonElement>('button')];
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  }

  private part(index: number, content: unknown, build: () => HTMLElement[]): void {
    const key = JSON.stringify(content);
    if (this.shown[index] !== key) {
      this.shown[index] = key;
      this.parts[index]?.replaceChildren(...build());
    }
  }

  private choice(number: number, transition: Transition, detail: string, after: string): HTMLElement {
    const element = h(
      'button',
      { type: 'button', class: 'choice', 'data-key': `take ${number}` },
      h('span', { class: 'what' }, words(transition)),
      transition.channel === null ? '' : h('span', { class: 'channel' }, transition.channel),
      h('span', { class: 'window' }, detail),
      after === '' ? '' : h('span', { class: 'reason' }, after),
    );
    element.addEventListener('click', () => this.take(number));
    return h('li', {}, this.pointer.to(element, transition.edges));
  }

  private possible(now: SimulationState): HTMLElement[] {
    return now.groups.flatMap((group, index) => {
      const own = now.possible.filter((p) => p.group === index);
      const choices = (): HTMLElement[] => own.map((p) => this.choice(p.number, p.transition, `after ${p.window}`, ''));
      if (!group.folded) {
        return choices();
      }
      const key = `${group.process} ${group.from} ${group.to} ${own[0]?.transition.edges[0]?.edge ?? ''}`;
      const open = this.opened.has(key);
      const title = h(
        'button',
        { type: 'button', class: 'choice group', 'aria-expanded': String(open), 'data-key': `group ${key}` },
        `${open ? '▾' : '▸'} ${group.process}: ${group.from} → ${group.to}, ${grouped(group.count)} choices`,
      );
      title.addEventListener('click', () => {
        if (!this.opened.delete(key)) {
          this.opened.add(key);
        }
        this.draw(now);
      });
      const head = h('li', {}, this.pointer.to(title, own[0]?.transition.edges.slice(0, 1) ?? []));
      return open ? [head, ...choices()] : [head];
    });
  }

  /** A broadcast with very many combinations of receivers: one process after the other says what it does. */
  private receivers(now: SimulationState): HTMLElement[] {
    if (now.choosing === null) {
      return [];
    }
    const { process, options, left, transition } = now.choosing;
    const items = options.map((edge, i) => this.choice(i, { channel: null, edges: [edge] }, '', ''));
    return [
      h('p', { class: 'none' }, `${words(transition)}${transition.channel === null ? '' : ` (${transition.channel})`}, received by:`),
      ...list(`Choose what ${process} does (${left} left)`, items, items.length, 'Nothing.'),
      button('Choose another transition', 'Take back the choice of receivers (Left, or p)', () => this.send({ type: 'run', command: 'back' })),
    ];
  }

  private blocked(now: SimulationState): HTMLElement[] {
    return now.blocked.map((b) => {
      const range = b.reason.range;
      const jump = h(
        'button',
        { type: 'button', class: 'choice blocked', title: 'Show the reason in the text' },
        h('span', { class: 'what' }, words(b.transition)),
        h('span', { class: 'reason' }, reasonText(b.reason)),
      );
      jump.addEventListener('click', () => range !== null && this.send({ type: 'jump', line: range.start.line }));
      return h('li', {}, this.pointer.to(jump, b.transition.edges));
    });
  }
}

function list(title: string, items: HTMLElement[], count: number, none: string): HTMLElement[] {
  const head = h('h2', {}, title, h('span', { class: 'summary' }, ` ${grouped(count)}`));
  return [head, items.length === 0 ? h('p', { class: 'none' }, none) : h('ul', { class: 'choices-list', 'aria-label': title }, ...items)];
}
