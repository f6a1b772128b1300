/**
 * A strict reader of XML 1.0, as far as our documents use it: a declaration, elements, attributes, text, references.
 * Whatever is not well-formed, or uses more than that, throws.
 */

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Of this element alone. */
  readonly text: string;
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

export function parseXml(document: string): Element {
  if (forbidden.test(document)) throw new Error('a character that XML 1.0 forbids');
  const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (!document.startsWith(declaration)) throw new Error('no declaration');
  const reader = { rest: document.slice(declaration.length) };
  const root = parseElement(reader);
  if (reader.rest.trim() !== '') throw new Error(`after the root: ${reader.rest.slice(0, 40)}`);
  return root;
}

/** All elements of that name, in the order of the document. */
export function all(root: Element, name: string): Element[] {
  return [...(root.name === name ? [root] : []), ...root.children.flatMap((child) => all(child, name))];
}

interface Reader {
  rest: string;
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray {
  const match = pattern.exec(reader.rest);
  if (match?.index !== 0) throw new Error(`not ${pattern.source}: ${reader.rest.slice(0, 40)}`);
  reader.rest = reader.rest.slice(match[0].length);
  return match;
}

function parseElement(reader: Reader): Element {
  const name = take(reader, /^<([A-Za-z][\w-]*)/)[1] ?? '';
  const attributes: Record<string, string> = {};
  while (/^\s+[A-Za-z]/.test(reader.rest)) {
    const [, key = '', value = ''] = take(reader, /^\s+([A-Za-z][\w-]*)="([^"<\t\n\r]*)"/);
    if (key in attributes) throw new Error(`${key} twice`);
    attributes[key] = dereferenced(value);
  }
  if (take(reader, /^\s*\/?>/)[0].endsWith('/>')) return { name, attributes, children: [], text: '' };
  const children: Element[] = [];
  let text = '';
  while (!reader.rest.startsWith('</')) {
    if (reader.rest.startsWith('<')) children.push(parseElement(reader));
    else text += dereferenced(take(reader, /^[^<]+/)[0]);
  }
  const closing = take(reader, /^<\/([A-Za-z][\w-]*)>/)[1];
  if (closing !== name) throw new Error(`<${name}> is closed by </${closing}>`);
  return { name, attributes, children, text };
}

function dereferenced(text: string): string {
  if (text.includes(']]>')) throw new Error(']]> in a text');
  return text.replaceAll(/&([^;]*;)?/g, (_, reference: string | undefined) => {
    const [, name, code] = /^(?:(\w+)|#(\d+));$/.exec(reference ?? '') ?? [];
    const character = code === undefined ? named[name ?? ''] : String.fromCodePoint(Number(code));
    if (character === undefined || forbidden.test(character)) throw new Error(`&${reference ?? ''}`);
    return character;
  });
}
