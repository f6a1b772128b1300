/**
 * Documentation that can be wrong, is. These tests hold it to the files: the map of the house names every source file
 * and nothing else, the documents name only what exists, and every file begins with prose.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(file));
const islands = ['broker', 'checker', 'docker', 'harness', 'nemesis'];
const sources = tracked.filter((file) => /\.(ts|mjs)$/.test(file) && islands.includes(file.split('/')[0] ?? ''));
const documents = tracked.filter((file) => file.endsWith('.md'));
const commands = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts);

/** Paths of the project that a text names: those that begin with one of its folders, and links to files. */
function namedPaths(text: string): string[] {
  const pattern = /(?<![\w./<-])(?:broker|checker|docker|harness|nemesis|test|docs|\.ci)\/[\w./-]*[\w/]/g;
  return [...text.matchAll(pattern)].map((match) => match[0]);
}

describe('ARCHITECTURE.md', () => {
  const map = readFileSync('ARCHITECTURE.md', 'utf8');

  it('names every source file', () => {
    expect(sources.filter((file) => !map.includes(file) && !map.includes(`\`${file.split('/').at(-1)}\``))).toEqual([]);
  });
});

describe('the documents', () => {
  it.each(documents)('%s names only files and folders that exist', (document) => {
    const missing = namedPaths(readFileSync(document, 'utf8')).filter((path) => !existsSync(path));
    expect([...new Set(missing)]).toEqual([]);
  });

  it.each(documents)('%s links only to files that exist', (document) => {
    const links = [...readFileSync(document, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g)].map(
      (match) => match[1] ?? '',
    );
    expect(links.filter((link) => !existsSync(normalize(join(dirname(document), link))))).toEqual([]);
  });

  it.each(documents)('%s names only npm scripts that exist', (document) => {
    const scripts = [...readFileSync(document, 'utf8').matchAll(/npm run ([\w:]+)/g)].map((match) => match[1] ?? '');
    expect(scripts.filter((script) => !commands.includes(script))).toEqual([]);
  });
});

describe('the source files', () => {
  it.each(sources)('%s opens with prose', (file) => {
    expect(readFileSync(file, 'utf8')).toMatch(/^(#!.*\n)?(\/\*\*|\/\/ )/);
  });
});
