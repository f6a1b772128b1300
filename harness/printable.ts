/**
 * Text of somebody else's (a file's, a broker's, a folder's name) as it may stand on a terminal: what would move the
 * cursor, colour, or turn the direction of writing is shown as an escape, and does nothing. One line stays one line.
 */

/** Controls, and the marks that turn the direction of writing. */
const harmful = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Shows controls as escapes: `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(harmful, (control) => `\\u{${control.codePointAt(0)?.toString(16)}}`);
}
