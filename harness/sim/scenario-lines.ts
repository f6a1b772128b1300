/** What both forms of scenario files share: how a flaw is named, and how lists of names are written. */

/** A line that cannot be read, or an expectation that did not hold; the message begins with file and line. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
  readonly kind: 'malformed' | 'failed';

  constructor(kind: 'malformed' | 'failed', file: string, line: number, message: string) {
    super(`${file}:${line}: ${readable(message)}`);
    this.kind = kind;
  }
}

/** So much of a message is shown: its beginning, and its end, which says what is wrong. */
const MOST_SHOWN = 1_200;
const MOST_SHOWN_LAST = 300;
const MOST_QUOTED = 200;

/** One line of a bounded length, whatever bytes the file holds: they may be those of a terminal, or of no text at all. */
function readable(message: string): string {
  const shown =
    message.length > MOST_SHOWN
      ? `${message.slice(0, MOST_SHOWN - MOST_SHOWN_LAST)} … ${message.slice(-MOST_SHOWN_LAST)}`
      : message;
  return shown.replaceAll(/[\p{Cc}\p{Cf}\uFFFD]+/gu, '�');
}

/** Names what stands closest: the usages that begin alike, or else those that share most words with the text. */
export function unreadable(what: string, text: string, usages: readonly string[]): string {
  const words = text.split(' ');
  const alike = usages.filter((usage) => usage.split(/[ |]/)[0] === words[0]);
  const shared = (usage: string) => usage.split(' ').filter((word) => words.includes(word)).length;
  const most = Math.max(1, ...usages.map(shared));
  const close = alike.length > 0 ? alike : usages.filter((usage) => shared(usage) === most);
  const hint = close.length === 0 ? 'docs/scenarios.md lists them all' : `closest: ${close.slice(0, 5).join(' | ')}`;
  const shown = text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text;
  return `"${shown}" is no ${what}; ${hint}`;
}

/** Names apart by a comma and a space; `1=hw,2-3=epoch` is one name. */
export function namesOf(list: string): readonly string[] {
  return list.split(/, +/).map((name) => name.trim());
}
