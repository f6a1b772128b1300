/**
 * HTML and SVG by tagged template: everything that is put in is escaped, unless it is markup made here already.
 *
 * Invariant: text from a history, a trace or a name can never become markup. There is no way to mark foreign text as
 * safe; only {@link html} itself makes {@link Markup}.
 */

/** Markup that was made by {@link html}. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Markup | string | number | boolean | null | undefined | readonly Content[];

/** Escapes every value that is not markup; arrays are joined, null, undefined and booleans vanish. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  const parts = tightened(strings);
  let text = parts[0] ?? '';
  for (const [index, value] of values.entries()) text += render(value) + (parts[index + 1] ?? '');
  return new Markup(text);
}

const known = new WeakMap<TemplateStringsArray, readonly string[]>();

/** The constant parts of a template without their indentation: a report holds the same few of them thousands of times. */
function tightened(strings: TemplateStringsArray): readonly string[] {
  let parts = known.get(strings);
  if (parts === undefined) {
    parts = strings.map((part) => part.replaceAll(/\s*\n\s*/g, '\n'));
    known.set(strings, parts);
  }
  return parts;
}

/** A constant of ours (style, script) that is not to be escaped. Never for anything that was read. */
export function constant(text: string): Markup {
  return new Markup(text);
}

function render(value: Content): string {
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return (value as readonly Content[]).map(render).join('');
  if (value === null || value === undefined || typeof value === 'boolean') return '';
  return `${value as string | number}`.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character);
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
