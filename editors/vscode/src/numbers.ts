// Numbers as text; shared by the extension and the pages of its panels.

/** Groups the digits of a large number as lenses and reports do: `272 763`. */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}
