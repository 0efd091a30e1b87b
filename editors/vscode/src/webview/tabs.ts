// The templates as tabs, with one for all of them and a button for another one.
import { button, h } from './dom';

interface Actions {
  /** Shows a template; all of them without a name. */
  choose(name: string): void;
  rename(): void;
  add(): void;
}

export class Tabs {
  readonly element = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Templates' });
  private readonly add: HTMLButtonElement;

  constructor(private readonly actions: Actions) {
    this.add = button('+', 'Add a template', () => actions.add());
    this.element.addEventListener('keydown', (event) => this.onKey(event));
  }

  draw(templates: string[], chosen: string, file: string): void {
    const tab = (value: string, text: string): HTMLElement => {
      const element = button(text, value === '' ? `All templates of ${file}` : `Template ${value}`, () => this.actions.choose(value));
      const selected = value === chosen;
      Object.entries({ role: 'tab', 'aria-selected': selected, tabindex: selected ? 0 : -1, 'data-tab': value }).forEach(([key, v]) => element.setAttribute(key, String(v)));
      element.addEventListener('dblclick', () => value !== '' && this.actions.rename());
      return element;
    };
    const focused = document.activeElement?.getAttribute('role') === 'tab';
    this.element.replaceChildren(tab('', 'All'), ...templates.map((name) => tab(name, name)), this.add);
    if (focused) {
      this.focus();
    }
  }

  clear(): void {
    this.element.replaceChildren();
  }

  /** Whether templates can be added. */
  lock(locked: boolean): void {
    this.add.disabled = locked;
  }

  private focus(): void {
    this.element.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  }

  private onKey(event: KeyboardEvent): void {
    const all = [...this.element.querySelectorAll<HTMLElement>('[role="tab"]')];
    const at = all.indexOf(event.target as HTMLElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at >= 0 && to !== undefined && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      this.actions.choose(all[(to + all.length) % all.length]?.getAttribute('data-tab') ?? '');
      this.focus();
    } else if (event.key === 'F2') {
      event.stopPropagation();
      this.actions.rename();
    }
  }
}
