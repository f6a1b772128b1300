/**
 * Regular expressions that somebody else wrote, and that no line may stall.
 *
 * An expression such as `(a+)+$` takes longer than anybody lives on the wrong line, and while it is looked for nothing
 * else happens here, not even the end that Ctrl-C asks for. V8 has a second engine for them, whose time grows with the
 * line and no faster: it goes on where the usual one turns back too often. What it cannot run (a look ahead, a
 * reference back, a long counted repetition) is no expression for a description.
 */
import { setFlagsFromString } from 'node:v8';

// Both change nothing about expressions that are run as usual.
setFlagsFromString('--enable-experimental-regexp-engine');
setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');

/** The flag by which V8 refuses what would not be linear. */
const linear = 'l';

/** Throws for what is no regular expression, and for one that may take longer than its line is long. */
export function linearExpression(source: string): RegExp {
  const expression = new RegExp(source);
  try {
    void new RegExp(source, linear);
  } catch (error) {
    throw new Error(
      `Invalid regular expression: /${source}/: a line could stall it; leave out (?=…), (?!…), \\1, (?i:…) and counts above 9`,
      { cause: error },
    );
  }
  return expression;
}
