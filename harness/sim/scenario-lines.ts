/** What both forms of scenario files share: how a flaw is named, and how lists of names are written. */

/** A line that cannot be read, or an expectation that did not hold; the message begins with file and line. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
  readonly kind: 'malformed' | 'failed';

  constructor(kind: 'malformed' | 'failed', file: string, line: number, message: string) {
    super(`${file}:${line}: ${message}`);
    this.kind = kind;
  }
}

/** Names what stands closest: the usages that begin alike, or else those that share most words with the text. */
export function unreadable(what: string, text: string, usages: readonly string[]): string {
  const words = text.split(' ');
  const alike = usages.filter((usage) => usage.split(/[ |]/)[0] === words[0]);
  const shared = (usage: string) => usage.split(' ').filter((word) => words.includes(word)).length;
  const most = Math.max(1, ...usages.map(shared));
  const close = alike.length > 0 ? alike : usages.filter((usage) => shared(usage) === most);
  const hint = close.length === 0 ? 'docs/scenarios.md lists them all' : `closest: ${close.slice(0, 5).join(' | ')}`;
  return `"${text}" is no ${what}; ${hint}`;
}

/** Names apart by a comma and a space; `1=hw,2-3=epoch` is one name. */
export function namesOf(list: string): readonly string[] {
  return list.split(/, +/).map((name) => name.trim());
}
