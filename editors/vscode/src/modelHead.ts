// Whether an XML text is a model, by its beginning alone.

/** The number of characters of a document that are read. */
export const HEAD = 4096;

/** What the beginning of an XML text shows: a model, another document, or nothing yet. */
export type Head = 'model' | 'other' | 'undecided';

/** What may precede the document type or the root: a declaration, comments, white space. */
const BEFORE = /^(?:\s+|<\?[^]*?\?>|<!--[^]*?-->)/;
const MODEL = /^<!DOCTYPE\s+nta[\s>[]|^<nta[\s/>]/;

/** Distinguishes a model from other XML; only the first `HEAD` characters count. */
export function readHead(text: string): Head {
  let rest = text.slice(0, HEAD).replace(/^\uFEFF/, '');
  for (;;) {
    const skipped = BEFORE.exec(rest);
    if (skipped === null) {
      break;
    }
    rest = rest.slice(skipped[0].length);
  }
  if (MODEL.test(rest)) {
    return 'model';
  }
  // The user is still typing: the text may become either.
  const whole = text.length < HEAD;
  return whole && unfinished(rest) ? 'undecided' : 'other';
}

/** Whether a text ends before its kind is clear. */
function unfinished(rest: string): boolean {
  const begun = rest.replace(/^<!DOCTYPE\s+/, '<!DOCTYPE ');
  return rest.startsWith('<?') || rest.startsWith('<!--') || '<!DOCTYPE nta'.startsWith(begun.trimEnd()) || '<nta'.startsWith(rest) || '<!--'.startsWith(rest);
}
