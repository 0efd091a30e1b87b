// The text field in place: one at a time, over the picture. Enter applies, Shift+Enter begins a line, Escape cancels.
import { h } from './dom';
import { Offer, Offers } from './offers';

/** What is asked for. */
export interface Asked {
  /** What is edited, for the label over the field and for screen readers. */
  title: string;
  value: string;
  /** Where the field goes, in coordinates of the window. */
  at: { x: number; y: number };
  /** Problems of the text that stands there now. */
  problems: string[];
  multiline: boolean;
  /** Called with the new text; the field stays until it is closed or refused. */
  apply(text: string): void;
  /** Called after the field has closed without a change. */
  cancelled(): void;
}

/** Keys that mean typing here; elsewhere in the page they reach the document. */
const OF_TYPING = new Set(['z', 'y', 'a', 'x', 'c', 'v']);

export class Field {
  private box: HTMLElement | undefined;
  private input: HTMLTextAreaElement | undefined;
  private note: HTMLElement | undefined;
  private asked: Asked | undefined;
  private offers: Offers | undefined;

  /** `parent` is scrolled with the picture. */
  constructor(private readonly parent: HTMLElement) {}

  get isOpen(): boolean {
    return this.box !== undefined;
  }

  /** Opens the field. A text that was changed and not applied is not lost: its field keeps the focus. */
  open(asked: Asked): void {
    if (this.asked !== undefined && this.input?.value !== this.asked.value) {
      this.refuse('Apply this text with Enter, or cancel it with Escape.');
      return;
    }
    this.close();
    this.asked = asked;
    const lines = asked.value.split('\n');
    this.input = h('textarea', {
      'aria-label': asked.title,
      'aria-describedby': 'field-note',
      rows: asked.multiline ? Math.min(12, lines.length) : 1,
      cols: Math.max(18, Math.min(70, 4 + Math.max(...lines.map((l) => l.length)))),
      spellcheck: 'false',
    });
    this.input.value = asked.value;
    this.note = h('span', { id: 'field-note', class: 'note', 'aria-live': 'polite' }, asked.problems.join('\n'));
    this.box = h('div', { class: 'text-field' }, h('span', { class: 'caption' }, asked.title), this.input, this.note);
    this.input.addEventListener('keydown', (event) => this.onKey(event));
    this.input.addEventListener('input', () => {
      this.grow();
      this.offers?.update();
    });
    this.offers = new Offers(this.input);
    this.box.append(this.offers.list);
    this.parent.append(this.box);
    const outer = this.parent.getBoundingClientRect();
    const widest = Math.max(0, this.parent.clientWidth - this.box.offsetWidth - 4);
    const x = Math.max(4, Math.min(asked.at.x - outer.left, widest)) + this.parent.scrollLeft;
    const y = Math.max(4, asked.at.y - outer.top) + this.parent.scrollTop;
    Object.assign(this.box.style, { left: `${x}px`, top: `${y}px` });
    this.input.focus();
    this.input.select();
  }

  /** The text that stands there is a suggestion: it can be applied as it is. */
  suggest(): void {
    if (this.asked !== undefined) {
      this.asked = { ...this.asked, value: '' };
    }
  }

  /** Offers these names while one is typed. */
  offer(names: Offer[]): void {
    this.offers?.set(names);
  }

  /** Says in the field why its text was not applied. */
  refuse(message: string): void {
    if (this.note && this.box && this.input) {
      this.box.removeAttribute('aria-busy');
      this.note.textContent = message;
      this.input.focus();
    }
  }

  close(): void {
    this.box?.remove();
    this.box = this.input = this.note = this.asked = this.offers = undefined;
  }

  private grow(): void {
    if (this.input && this.asked?.multiline) {
      this.input.rows = Math.min(12, this.input.value.split('\n').length);
    }
  }

  private onKey(event: KeyboardEvent): void {
    const { asked, input } = this;
    if (asked === undefined || input === undefined) {
      return;
    }
    const chord = event.ctrlKey || event.metaKey;
    if (!chord || OF_TYPING.has(event.key.toLowerCase())) {
      // Neither the picture nor the workbench acts on what is typed: Ctrl+Z takes typing back.
      event.stopPropagation();
    }
    if (!chord && this.offers?.onKey(event.key) === true) {
      event.preventDefault();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      this.close();
      asked.cancelled();
    } else if (event.key === 'Enter' && !event.isComposing && !(event.shiftKey && asked.multiline)) {
      event.preventDefault();
      if (input.value === asked.value) {
        this.close();
        asked.cancelled();
      } else {
        this.box?.setAttribute('aria-busy', 'true');
        asked.apply(input.value);
      }
    }
  }
}
