/**
 * `tidemark bundle DIR`: packs a stored run, comparison or night for a colleague, who needs nothing else to check, report,
 * show and replay it.
 */
import type { Command } from 'commander';
import type { BundleContents } from '../bundle/contents.ts';
import { exitCodes } from '../errors.ts';
import { createProgress } from '../progress.ts';
import { bytesInWords, counted, shellWord } from '../report/words.ts';
import { shownPath } from '../shown-path.ts';
import { onInterrupt } from './interrupt.ts';

/** Names told one by one. */
const NAMES_MAX = 20;

export function registerBundle(program: Command): void {
  program
    .command('bundle')
    .description('pack a stored run, comparison or night for a colleague')
    .argument('<dir>', 'the folder of a run, comparison or night, such as store/latest')
    .option('--out <file>', 'where the bundle goes (default: named after the folder, in the current one)')
    .action(async (directory: string, { out }: { readonly out?: string }) => {
      const progress = createProgress();
      const signal = onInterrupt(progress, 'removing what was packed so far');
      progress.step(`packing ${shownPath(directory)}`);
      const { writeBundle } = await import('../bundle/bundle.ts');
      const { path, bytes, name, contents } = await writeBundle({ directory, out, signal });
      const total = contents.files.reduce((sum, { size }) => sum + size, 0);
      progress.line(
        `packed  ${counted(contents.files.length, 'file')}, ${bytesInWords(total)}: ${namesOf(contents).join(', ')}`,
      );
      for (const { name: left, why } of contents.left.slice(0, NAMES_MAX)) progress.line(`left    ${left}: ${why}`);
      if (contents.left.length > NAMES_MAX) progress.line(`left    ${contents.left.length - NAMES_MAX} more`);
      progress.line(`bundle  ${shownPath(path)} (${bytesInWords(bytes)})`);
      const verb = contents.files.some((file) => file.name.startsWith('history.')) ? 'check' : 'report';
      progress.line(`unpack  tar -xzf ${shellWord(shownPath(path))} && npm run tidemark -- ${verb} ${shellWord(name)}`);
      process.exitCode = exitCodes.valid;
    });
}

/** What stands at the top: files, and folders with how many files they hold. */
function namesOf({ files }: BundleContents): string[] {
  const tops = Map.groupBy(files, ({ name }) => name.split('/')[0] ?? name);
  const names = [...tops].map(([top, within]) => (within[0]?.name === top ? top : `${top}/ (${within.length})`));
  return [...names.slice(0, NAMES_MAX), ...(names.length > NAMES_MAX ? [`${names.length - NAMES_MAX} more`] : [])];
}
