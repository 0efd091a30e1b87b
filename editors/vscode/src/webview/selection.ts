// What is selected: elements of one template.
import type { DrawnTemplate, ElementId } from '../protocol';

export class Selection {
  template = '';
  elements = new Set<ElementId>();
  /** Whether several are being collected: then the focus alone selects nothing. */
  collecting = false;

  constructor(private readonly changed: () => void) {}

  has(template: string, element: ElementId): boolean {
    return this.template === template && this.elements.has(element);
  }

  set(template: string, elements: Iterable<ElementId>): void {
    this.template = template;
    this.elements = new Set(elements);
    this.changed();
  }

  /** Adds an element, or takes it away. */
  toggle(template: string, element: ElementId): void {
    this.collecting = true;
    const elements = new Set(this.template === template ? this.elements : []);
    if (!elements.delete(element)) {
      elements.add(element);
    }
    this.set(template, elements);
  }

  /** Elements that are gone are not selected. */
  keep(template: DrawnTemplate | undefined): void {
    const all = [...(template?.nodes ?? []), ...(template?.edges ?? [])];
    this.set(this.template, [...this.elements].filter((element) => all.some((e) => e.id === element)));
  }

  clear(): void {
    this.collecting = false;
    this.set(this.template, []);
  }

  /** The names of the selected nodes. */
  get nodes(): string[] {
    return [...this.elements].filter((e) => typeof e === 'string');
  }

  /** The only selected element. */
  get only(): ElementId | undefined {
    return this.elements.size === 1 ? [...this.elements][0] : undefined;
  }
}

/** The element that a part of a picture belongs to. */
export function elementOf(part: Element | null): { group: Element; template: string; element: ElementId } | undefined {
  const group = part?.closest('g.node, g.edge') ?? null;
  const template = group?.closest('svg')?.getAttribute('data-template');
  if (group === null || template === null || template === undefined) {
    return undefined;
  }
  const edge = group.getAttribute('data-edge');
  return { group, template, element: edge === null ? (group.getAttribute('data-name') ?? '') : Number(edge) };
}

/** The part of a picture that shows an element. */
export function groupOf(canvas: ParentNode, template: string, element: ElementId): SVGElement | null {
  const own = typeof element === 'string' ? `g.node[data-name="${CSS.escape(element)}"]` : `g.edge[data-edge="${element}"]`;
  return canvas.querySelector(`svg[data-template="${CSS.escape(template)}"] ${own}`);
}
