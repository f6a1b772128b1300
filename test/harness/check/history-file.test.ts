/** What kinds of file are taken for a history, and what is said of those that are broken. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportEdn } from '../../../harness/check/export-edn.ts';
import { openHistory, openPackable } from '../../../harness/check/history-file.ts';
import { checkPath, historyAt } from '../../../harness/check/load-run.ts';
import { s1aPrime } from '../../checker/schedules.ts';

let directory = '';
const lines = s1aPrime('hw').history;
const expected = (path: string): string[] => checkPath(path).anomalies.map(({ kind }) => kind);

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-history-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

describe('a history file', () => {
  it('is understood as JSON or EDN, plain or packed, whatever its name', () => {
    const plain = file('a', lines.join('\n'));
    const kinds = expected(plain);
    expect(kinds).toContain('lost-write');
    const edn = join(directory, 'b');
    expect(exportEdn(historyAt(plain), edn)).toEqual({ operations: lines.length, left: 0 });
    expect(expected(edn)).toEqual(kinds);
    for (const path of [plain, edn]) expect(expected(file('c', zstdCompressSync(readFileSync(path))))).toEqual(kinds);
  });

  it('may begin with a byte order mark, plain or packed', () => {
    const plain = Buffer.from(`\uFEFF${lines.join('\n')}`);
    const results = checkPath(file('marked', plain));
    expect(results.anomalies.map(({ kind }) => kind)).toEqual(expected(file('a', lines.join('\n'))));
    expect(results.measures['operations']).toBe(5);
    expect([...openPackable(file('marked.zst', zstdCompressSync(plain)), [])]).toEqual(lines);
  });

  it('may be packed in several frames', () => {
    const half = lines.length / 2;
    const frames = [lines.slice(0, half), lines.slice(half)].map((part) =>
      zstdCompressSync(Buffer.from(part.map((line) => `${line}\n`).join(''))),
    );
    const path = file('frames.zst', Buffer.concat(frames));
    expect([...openPackable(path, [])].filter((line) => line !== '')).toEqual(lines);
  });

  it('that was packed and breaks off is read as far as it goes, and told', () => {
    const digits = Array.from({ length: 300_000 }, (_, at) => String(Math.imul(at, 0x9e3779b1) >>> 0)).join('\n');
    const whole = zstdCompressSync(Buffer.from(digits));
    const notes: string[] = [];
    const read = [...openPackable(file('torn.zst', whole.subarray(0, whole.length - 9)), notes)];
    expect(read.length).toBeGreaterThan(1000);
    expect(digits.startsWith(read.join('\n'))).toBe(true);
    expect(notes.join()).toContain('breaks off');
  });

  it('that unpacks to more than its bound is refused in one line', () => {
    const path = file('bomb.zst', zstdCompressSync(Buffer.alloc(1 << 20)));
    expect(() => openHistory(path, [], 1000)).toThrow(/unpacks to more than 1000 bytes/);
  });

  it('that is packed and damaged is refused in one line', () => {
    const packed = zstdCompressSync(Buffer.from(lines.join('\n')));
    packed.fill(0xee, 6, 40);
    expect(() => openHistory(file('damaged.zst', packed), [])).toThrow(/cannot be unpacked|breaks off/);
  });

  it('may be the history.edn of a folder', () => {
    const edn = join(directory, 'history.edn');
    exportEdn(historyAt(file('plain.jsonl', lines.join('\n'))), edn);
    expect(expected(directory)).toContain('lost-write');
  });

  it('is exported without the lines that are none, and never over another file', () => {
    const path = file('broken.jsonl', [...lines.slice(0, 2), '{', ...lines.slice(2), '{"index":'].join('\n'));
    const target = join(directory, 'out.edn');
    expect(exportEdn(historyAt(path), target)).toEqual({ operations: lines.length, left: 2 });
    expect(() => exportEdn(historyAt(path), target)).toThrow(/it exists already/);
  });
});
