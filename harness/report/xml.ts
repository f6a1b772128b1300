/**
 * XML 1.0 as text: elements with attributes, content and nothing else.
 *
 * Invariant: what comes out is well-formed whatever is put in. Characters that XML forbids even as references (most
 * control characters, halves of surrogate pairs) become U+FFFD, and all that could end a text or an attribute is
 * escaped; line breaks within attributes, too, since a reader would make spaces of them.
 */

/** An element of this module, or text that is still to be escaped. */
export type XmlContent = Xml | string;

/** An element that was made by {@link element}. */
export class Xml {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Names are ours, and valid; attributes without a value are left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  ...content: readonly XmlContent[]
): Xml {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const opening = `${name}${given.map(([key, value]) => ` ${key}="${inAttribute(String(value))}"`).join('')}`;
  if (content.length === 0) return new Xml(`<${opening}/>`);
  const inner = content.map((each) => (each instanceof Xml ? `\n${each.text}` : inText(each))).join('');
  return new Xml(`<${opening}>${inner}${content.at(-1) instanceof Xml ? '\n' : ''}</${name}>`);
}

/** A whole document. */
export function xmlDocument(root: Xml): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.text}\n`;
}

function inText(text: string): string {
  return allowed(text).replaceAll(/[&<>\r]/g, (character) => escapes[character] ?? character);
}

function inAttribute(text: string): string {
  return allowed(text).replaceAll(/[&<>"\t\n\r]/g, (character) => escapes[character] ?? character);
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** XML 1.0, production 2 (Char). */
function allowed(text: string): string {
  return text.toWellFormed().replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');
}
