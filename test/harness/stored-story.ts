/** A story as the folder of a run, with all the files that a run leaves and a reader of runs looks at. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Story } from '../checker/story.ts';

/** Writes the story into `directory`, which is there. */
export function storeStory(directory: string, story: Story): void {
  const { run, promises } = story.input();
  writeFileSync(join(directory, 'history.jsonl'), `${story.history.join('\n')}\n`);
  writeFileSync(join(directory, 'trace.jsonl'), `${story.trace.join('\n')}\n`);
  const configuration = { ...run.configuration, ...promises };
  writeFileSync(join(directory, 'run.json'), JSON.stringify({ schemaVersion: 1, ...run, configuration }));
  mkdirSync(join(directory, 'data', 'controller'), { recursive: true });
  for (const { node, key, segments } of story.files()) {
    const folder = join(directory, 'data', String(node), key);
    mkdirSync(folder, { recursive: true });
    for (const { bytes } of segments) writeFileSync(join(folder, '00000000000000000000.log'), bytes);
    writeFileSync(join(folder, 'leader-epoch-checkpoint'), '0\n0\n');
    writeFileSync(join(directory, 'data', String(node), 'replication-offset-checkpoint'), '0\n1\ntide 0 1\n');
  }
}
