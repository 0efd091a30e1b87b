// Steps of the arrow keys: those that follow each other within a moment are one gesture.
import type { DrawnTemplate, Point } from '../protocol';
import { showMoved } from './pointer';

const MOMENT_MS = 500;

export class Nudge {
  private steps: { template: string; nodes: string[]; by: Point; timer: number } | undefined;

  constructor(private readonly send: (template: string, nodes: string[], by: Point) => void) {}

  /** Whether there are steps that were not sent yet. */
  get isPending(): boolean {
    return this.steps !== undefined;
  }

  /** Shows one more step. */
  push(svg: SVGSVGElement, template: DrawnTemplate, nodes: string[], [dx, dy]: Point): void {
    clearTimeout(this.steps?.timer);
    const [x, y] = this.steps?.by ?? [0, 0];
    this.steps = { template: template.name, nodes, by: [x + dx, y + dy], timer: window.setTimeout(() => this.flush(), MOMENT_MS) };
    showMoved(svg, template, new Set(nodes), this.steps.by);
  }

  /** Sends the steps. */
  flush(): void {
    const { steps } = this;
    this.drop();
    if (steps !== undefined && (steps.by[0] !== 0 || steps.by[1] !== 0)) {
      this.send(steps.template, steps.nodes, steps.by);
    }
  }

  /** Forgets the steps. */
  drop(): void {
    clearTimeout(this.steps?.timer);
    this.steps = undefined;
  }
}
