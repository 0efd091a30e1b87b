// The size of the pictures, and the part of the plane that each shows.
import type { DrawnTemplate } from '../protocol';
import { offsetOf } from './picture';

/** Room around a picture, to draw in. */
const ROOM = 34;
const LEAST = { width: 300, height: 150 };

interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export class Zoom {
  /** The scale that the user chose, or `fit`. */
  private wanted: number | 'fit' = 'fit';
  private factor = 1;
  /** Whether the scale stays as it is although the picture changes: it is being edited. */
  private kept = false;
  /** What each template shows, in coordinates of the file; while it is edited it only grows, so that nothing jumps. */
  private frames = new Map<string, Box>();
  private templates: DrawnTemplate[] = [];
  private alone = false;
  private anchor: { template: string; x: number; y: number } | undefined;

  constructor(
    private readonly canvas: HTMLElement,
    private readonly sheets: HTMLElement,
  ) {}

  /** Shows as much as fits. */
  fit(): void {
    this.wanted = 'fit';
    this.kept = false;
    this.frames.clear();
    this.draw(this.templates, this.alone);
  }

  /** Another template is shown. */
  reset(): void {
    this.frames.clear();
    this.kept = false;
  }

  /** The picture is being edited: its scale stays. */
  keep(): void {
    this.kept = true;
  }

  resized(): void {
    this.kept = false;
    this.draw(this.templates, this.alone);
  }

  /** Makes everything larger or smaller; what is at `at`, in coordinates of the window, stays there. */
  by(change: number, at?: { x: number; y: number }): void {
    const outer = this.canvas.getBoundingClientRect();
    const point = at ?? { x: outer.left + this.canvas.clientWidth / 2, y: outer.top + this.canvas.clientHeight / 2 };
    const under = document.elementFromPoint(point.x, point.y)?.closest<SVGSVGElement>('svg[data-template]') ?? this.sheets.querySelector<SVGSVGElement>('svg[data-template]');
    const before = under && new DOMPoint(point.x, point.y).matrixTransform(under.getScreenCTM()?.inverse());
    this.wanted = Math.max(0.2, Math.min(4, this.factor * change));
    this.draw(this.templates, this.alone);
    const after = under && before?.matrixTransform(under.getScreenCTM() ?? undefined);
    if (under && after) {
      this.shift(under.getAttribute('data-template') ?? '', after.x - point.x, after.y - point.y);
    }
  }

  /** Moves what is shown left and up; where nothing is left to scroll, the template gets more room. */
  private shift(template: string, dx: number, dy: number, tries = 3): void {
    const { canvas } = this;
    const [left, top] = [canvas.scrollLeft, canvas.scrollTop];
    canvas.scrollBy(dx, dy);
    const [x, y] = [dx - canvas.scrollLeft + left, dy - canvas.scrollTop + top];
    const frame = this.frames.get(template);
    const shown = this.picture(template)?.viewBox.baseVal;
    if (frame && shown && Math.hypot(x, y) > 1 && tries > 0) {
      const beyond = (low: number, high: number, size: number, rest: number): [number, number] => (rest < 0 ? [low + rest / this.factor, high] : [low, Math.max(high, low + size + rest / this.factor)]);
      [frame.x0, frame.x1] = beyond(frame.x0, frame.x1, shown.width, x);
      [frame.y0, frame.y1] = beyond(frame.y0, frame.y1, shown.height, y);
      this.draw(this.templates, this.alone);
      // Some of the new room may have been free before.
      this.shift(template, Math.max(0, x), Math.max(0, y), tries - 1);
    }
  }

  /** Remembers where a template is on the screen, before it is drawn again. */
  remember(template: string): void {
    const place = this.origin(template);
    this.anchor = place && { template, ...place };
  }

  /** Sizes the pictures of these templates; a single one fills the page. */
  draw(templates: DrawnTemplate[], alone: boolean): void {
    this.templates = templates;
    this.alone = alone;
    const boxes = templates.map((template) => this.frame(template));
    const widest = Math.max(1, ...boxes.map((box) => box.x1 - box.x0));
    if (this.wanted !== 'fit') {
      this.factor = this.wanted;
    } else if (!this.kept) {
      this.factor = Math.max(0.3, Math.min(1, (this.canvas.clientWidth - 32) / widest));
    }
    templates.forEach((template, i) => {
      const picture = this.picture(template.name);
      const box = boxes[i];
      if (picture === null || box === undefined) {
        return;
      }
      const room = alone ? { width: (this.canvas.clientWidth - 30) / this.factor, height: (this.canvas.clientHeight - 60) / this.factor } : LEAST;
      const [width, height] = [Math.max(box.x1 - box.x0, room.width), Math.max(box.y1 - box.y0, room.height)];
      const offset = offsetOf(template) ?? { x: 0, y: 0 };
      picture.setAttribute('viewBox', `${box.x0 + offset.x} ${box.y0 + offset.y} ${width} ${height}`);
      picture.setAttribute('width', String(width * this.factor));
      picture.setAttribute('height', String(height * this.factor));
    });
    const now = this.anchor && this.origin(this.anchor.template);
    if (now && this.anchor) {
      this.canvas.scrollBy(now.x - this.anchor.x, now.y - this.anchor.y);
    }
    this.anchor = undefined;
  }

  private picture(template: string): SVGSVGElement | null {
    return this.sheets.querySelector(`svg[data-template="${CSS.escape(template)}"]`);
  }

  /** Where the origin of the file is on the screen. */
  private origin(template: string): { x: number; y: number } | undefined {
    const picture = this.picture(template);
    const frame = this.frames.get(template);
    const box = picture?.viewBox.baseVal;
    if (!picture || !frame || !box) {
      return undefined;
    }
    const { left, top } = picture.getBoundingClientRect();
    return { x: left - frame.x0 * this.factor, y: top - frame.y0 * this.factor };
  }

  private frame(template: DrawnTemplate): Box {
    const offset = offsetOf(template);
    const { x, y } = offset ?? { x: 0, y: 0 };
    const needed = { x0: -ROOM - x, y0: -ROOM - y, x1: template.width + ROOM - x, y1: template.height + ROOM - y };
    const before = offset === null ? undefined : this.frames.get(template.name);
    const box = {
      x0: Math.min(needed.x0, before?.x0 ?? Infinity),
      y0: Math.min(needed.y0, before?.y0 ?? Infinity),
      x1: Math.max(needed.x1, before?.x1 ?? -Infinity),
      y1: Math.max(needed.y1, before?.y1 ?? -Infinity),
    };
    this.frames.set(template.name, box);
    return box;
  }
}
