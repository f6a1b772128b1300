/** A story of brokers that tell no trace as the folder that such a run leaves. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Foreign } from '../checker/foreign.ts';

/** Writes the folder's files, but for its results; `facts` go into `run.json`. */
export function writeForeignRun(run: Foreign, directory: string, facts: Readonly<Record<string, unknown>> = {}): void {
  const { traced: _, target, ...description } = run.input().run;
  mkdirSync(directory, { recursive: true });
  const file = {
    schemaVersion: 1,
    ...description,
    observed: true,
    target: { name: target?.name },
    recordedLines: { history: run.history.length, trace: 0, observations: run.observations.length },
    ...facts,
  };
  writeFileSync(join(directory, 'run.json'), JSON.stringify(file));
  writeFileSync(join(directory, 'history.jsonl'), `${run.history.join('\n')}\n`);
  writeFileSync(join(directory, 'observations.jsonl'), `${run.observations.join('\n')}\n`);
  for (const { node, key, segments } of run.files) {
    const folder = join(directory, 'data', `broker-${node}`, key);
    mkdirSync(folder, { recursive: true });
    for (const { baseOffset, bytes } of segments)
      writeFileSync(join(folder, `${String(baseOffset).padStart(20, '0')}.log`), bytes);
  }
}
