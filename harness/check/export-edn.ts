/**
 * `--export FILE`: a history as EDN, one operation a line, so that Jepsen's own checkers can read it.
 *
 * Lines are written as they are read; those that are no operation are left out, and their number is told.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { operationToEdn } from '../../checker/edn-write.ts';
import {
  isEmptyLine,
  Malformations,
  readHistory,
  type HistoryLine,
  type HistorySource,
} from '../../checker/parse-history.ts';
import { EnvironmentError, errorCode } from '../errors.ts';

/** Writes the operations of `history` to `path`; answers how many there were, and how many lines were left out. */
export function exportEdn(
  history: HistorySource,
  path: string,
): { readonly operations: number; readonly left: number } {
  let file: number;
  try {
    file = openSync(path, 'wx');
  } catch (error) {
    const why = errorCode(error) === 'EEXIST' ? 'it exists already' : String(errorCode(error));
    throw new EnvironmentError(`${path} cannot be written: ${why}`, { cause: error });
  }
  let operations = 0;
  let lines = 0;
  const counted = function* (): Generator<HistoryLine, void, undefined> {
    for (const line of history) {
      if (!isEmptyLine(line)) lines += 1;
      yield line;
    }
  };
  try {
    let text = '';
    readHistory(counted(), new Malformations(), (operation) => {
      operations += 1;
      text += `${operationToEdn(operation)}\n`;
      if (text.length > 1 << 16) {
        writeSync(file, text);
        text = '';
      }
      return null;
    });
    writeSync(file, text);
    return { operations, left: lines - operations };
  } finally {
    closeSync(file);
  }
}
