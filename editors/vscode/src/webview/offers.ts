// Names that are offered while one is typed in the field. Tab takes the first one, or the one that the arrow keys have
// reached; Enter means the text unless one was reached.
import { h } from './dom';

export interface Offer {
  name: string;
  detail: string;
}

const MOST = 8;

export class Offers {
  readonly list = h('ul', { id: 'field-offers', class: 'offers', role: 'listbox', 'aria-label': 'Names', hidden: true });
  private names: Offer[] = [];
  private shown: Offer[] = [];
  private reached = -1;

  constructor(private readonly input: HTMLTextAreaElement) {
    Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': 'field-offers', 'aria-expanded': 'false' }).forEach(([name, value]) => input.setAttribute(name, value));
    // The field keeps the focus.
    this.list.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      const at = (event.target as Element).closest('li')?.getAttribute('data-at');
      if (at) {
        this.take(Number(at));
      }
    });
  }

  set(names: Offer[]): void {
    this.names = names;
    this.update();
  }

  /** The part of a name before the cursor; nothing while text is selected. */
  private prefix(): string {
    const { value, selectionStart, selectionEnd } = this.input;
    return selectionStart === selectionEnd ? (/[A-Za-z_]\w*$/.exec(value.slice(0, selectionStart))?.[0] ?? '') : '';
  }

  /** Shows the names that begin as what is typed. */
  update(): void {
    const prefix = this.prefix().toLowerCase();
    const fits = ({ name }: Offer): boolean => name.toLowerCase().startsWith(prefix) && name.length > prefix.length;
    this.shown = prefix === '' ? [] : this.names.filter(fits).slice(0, MOST);
    this.reach(-1);
  }

  private reach(at: number): void {
    this.reached = at;
    this.list.hidden = this.shown.length === 0;
    this.input.setAttribute('aria-expanded', String(!this.list.hidden));
    this.list.replaceChildren(
      ...this.shown.map(({ name, detail }, i) => {
        const about = h('span', { class: 'summary' }, detail === name ? '' : ` ${detail}`);
        return h('li', { id: `offer-${i}`, role: 'option', 'data-at': i, 'aria-selected': String(i === at) }, name, about);
      }),
    );
    if (at < 0) {
      this.input.removeAttribute('aria-activedescendant');
    } else {
      this.input.setAttribute('aria-activedescendant', `offer-${at}`);
    }
  }

  private take(at: number): void {
    const { input } = this;
    const start = input.selectionStart - this.prefix().length;
    input.setRangeText(this.shown[at]?.name ?? '', start, input.selectionStart, 'end');
    this.shown = [];
    this.reach(-1);
  }

  /** Whether a key was meant for the list. */
  onKey(key: string): boolean {
    const count = this.shown.length;
    if (count === 0) {
      return false;
    }
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      this.reach((this.reached + (key === 'ArrowDown' ? 1 : -1) + count + (this.reached < 0 && key === 'ArrowUp' ? 1 : 0)) % count);
    } else if (key === 'Tab' || (key === 'Enter' && this.reached >= 0)) {
      this.take(Math.max(0, this.reached));
    } else if (key === 'Escape') {
      this.shown = [];
      this.reach(-1);
    } else {
      return false;
    }
    return true;
  }
}
