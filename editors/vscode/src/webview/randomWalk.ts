// The controls of a random walk: its seed, its speed, and what ends it.
import type { RandomOptions, SimulationState } from '../protocolSimulation';
import { button, h } from './dom';

/** What the fields say; kept while the panel is hidden. */
export type RandomFields = Record<'seed' | 'speed' | 'steps' | 'time' | 'until', string>;

const DEFAULTS: RandomFields = { seed: '1', speed: '2', steps: '', time: '', until: '' };

/** Steps of a walk that is taken at once, if nothing else is asked for. */
const AT_ONCE = 100;

/** A random walk, taken step by step or at once. */
export class RandomWalk {
  /** The buttons that are used most, and the fields. */
  readonly buttons: HTMLElement;
  readonly fields: HTMLElement;

  private timer: number | undefined;
  /** Steps that the walk may still take; nothing if only conditions end it. */
  private left: number | undefined;
  /** A step is on its way: at a high speed, or on a busy machine, the next one waits for it. */
  private waiting = false;
  private length = 0;

  private readonly seed = this.field('seed', 'number', 'Seed of the random walk: the same one gives the same walk');
  private readonly speed = this.field('speed', 'range', 'Steps of the random walk per second');
  private readonly steps = this.field('steps', 'number', 'The random walk ends after this many steps');
  private readonly time = this.field('time', 'text', 'The random walk ends at this moment since the start: 20 or 41/2');
  private readonly until = this.field('until', 'text', 'The random walk ends where this expression holds: P.done, or x > 3 && n == 2');
  private readonly rate = h('span', { class: 'summary' });
  private readonly summary = h('summary', {});
  private readonly runButton = button('Run', 'Take random transitions until a key is pressed', () => (this.isRunning ? this.pause() : this.go()));

  constructor(
    private readonly send: (options: RandomOptions) => void,
    private readonly keep: (fields: RandomFields) => void,
    kept: Partial<RandomFields> | undefined,
  ) {
    for (const [name, input] of Object.entries(this.inputs())) {
      input.value = kept?.[name as keyof RandomFields] ?? DEFAULTS[name as keyof RandomFields];
      input.addEventListener('input', () => this.changed());
    }
    this.speed.addEventListener('input', () => {
      if (this.isRunning) {
        this.restartTimer();
      }
    });
    this.buttons = h('span', { class: 'pair' }, button('Random', 'Take a random transition (r)', () => this.one()), this.runButton);
    const row = (text: string, ...parts: HTMLElement[]): HTMLElement => h('label', { class: 'field' }, h('span', {}, text), ...parts);
    this.fields = h(
      'details',
      { class: 'random' },
      this.summary,
      h(
        'div',
        { class: 'fields' },
        row('Seed', this.seed),
        row('Speed', this.speed, this.rate),
        row('Ends after steps', this.steps),
        row('at the time', this.time),
        row('or where', this.until),
        button('At once', 'Take the whole random walk without showing its steps', () => this.atOnce()),
      ),
    );
    this.describe();
  }

  /** Whether steps are being taken. */
  get isRunning(): boolean {
    return this.timer !== undefined;
  }

  /** Takes one random transition. */
  one(): void {
    this.send({ seed: this.seedOf(this.length), steps: 1 });
  }

  /** Stops taking steps. */
  pause(): void {
    window.clearInterval(this.timer);
    this.timer = undefined;
    this.waiting = false;
    this.runButton.textContent = 'Run';
  }

  /** The state after a step, or after something else. A message says what ended the walk. */
  shown(now: SimulationState): void {
    this.length = now.length;
    this.waiting = false;
    const stuck = now.possible.length === 0 && now.choosing === null;
    if (this.isRunning && (stuck || now.message !== null || this.left === 0)) {
      this.pause();
    }
  }

  private field(name: string, type: string, title: string): HTMLInputElement {
    const numbers = type === 'range' ? { min: 1, max: 20, step: 1 } : type === 'number' ? { min: name === 'steps' ? 1 : 0, step: 1 } : {};
    return h('input', { type, class: `random-${name}`, title, 'aria-label': title, ...numbers });
  }

  private inputs(): Record<keyof RandomFields, HTMLInputElement> {
    return { seed: this.seed, speed: this.speed, steps: this.steps, time: this.time, until: this.until };
  }

  private changed(): void {
    this.describe();
    const { seed, speed, steps, time, until } = this.inputs();
    this.keep({ seed: seed.value, speed: speed.value, steps: steps.value, time: time.value, until: until.value });
  }

  /** What is set is read without opening the fields. */
  private describe(): void {
    this.rate.textContent = `${this.speed.value} a second`;
    const ends = [
      this.steps.value === '' ? '' : `after ${this.steps.value} steps`,
      this.time.value.trim() === '' ? '' : `at t = ${this.time.value.trim()}`,
      this.until.value.trim() === '' ? '' : `where ${this.until.value.trim()}`,
    ].filter((part) => part !== '');
    const end = ends.length === 0 ? '' : `, ends ${ends.join(' or ')}`;
    this.summary.textContent = `Random walk: seed ${this.first()}, ${this.speed.value}/s${end}`;
  }

  private first(): number {
    return Math.max(0, Math.floor(Number(this.seed.value) || 0));
  }

  /** Another seed for each step, the same ones for the same first seed. */
  private seedOf(length: number): number {
    return this.first() + length;
  }

  private wantedSteps(): number | undefined {
    const steps = Math.floor(Number(this.steps.value));
    return steps >= 1 ? steps : undefined;
  }

  private ends(): Pick<RandomOptions, 'time' | 'until'> {
    const time = this.time.value.trim();
    const until = this.until.value.trim();
    return { ...(time === '' ? {} : { time }), ...(until === '' ? {} : { until }) };
  }

  private go(): void {
    this.left = this.wantedSteps();
    this.runButton.textContent = 'Pause';
    this.restartTimer();
    this.step();
  }

  private restartTimer(): void {
    window.clearInterval(this.timer);
    this.timer = window.setInterval(() => this.step(), 1000 / Number(this.speed.value));
  }

  private step(): void {
    if (!this.isRunning || this.waiting) {
      return;
    }
    this.waiting = true;
    this.left = this.left === undefined ? undefined : this.left - 1;
    this.send({ seed: this.seedOf(this.length), steps: 1, ...this.ends() });
  }

  private atOnce(): void {
    this.pause();
    this.send({ seed: this.first(), steps: this.wantedSteps() ?? AT_ONCE, ...this.ends() });
  }
}
