/** The store over HTTP: what is answered, to whom, and that nothing else can be reached. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStoreServer, loopback } from '../../../harness/serve/server.ts';
import { writeRunReport } from '../../../harness/report/run.ts';
import { s1aPrime } from '../../checker/schedules.ts';
import { writeRunFolder } from '../report/folder.ts';

const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'tidemark-serve-')));
const root = join(temporary, 'store');
let server: Server;
let port = 0;

beforeAll(async () => {
  const run = join(root, 'run/2026-11-30T101019227Z');
  writeRunFolder(run, s1aPrime('hw'));
  writeRunReport(run);
  mkdirSync(join(run, 'data/1/tide-0'), { recursive: true });
  writeFileSync(join(run, 'data/1/tide-0/00000000000000000000.log'), 'not text');
  writeFileSync(join(run, 'data/1/replication-offset-checkpoint'), '0\n0\n');
  writeFileSync(join(run, 'empty.txt'), '');
  writeFileSync(join(run, '<b>&.txt'), 'strange');
  writeFileSync(join(temporary, 'secret'), 'secret');
  symlinkSync('run/2026-11-30T101019227Z', join(root, 'latest'));
  symlinkSync(join(temporary, 'secret'), join(run, 'out'));
  symlinkSync('..', join(root, 'above'));
  spawnSync('mkfifo', [join(run, 'pipe')]);
  for (let count = 0; count < 120; count += 1) mkdirSync(join(root, 'many', `run-${count}`), { recursive: true });
  server = createStoreServer(root, 'store');
  await new Promise<void>((resolve) => server.listen(0, loopback, resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(temporary, { recursive: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Asks for a path as it is: nothing normalizes it on the way. */
function get(path: string, { method = 'GET', host = `127.0.0.1:${port}` } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: loopback, port, path, method, headers: { host } }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
      response.on('error', reject);
    });
    asked.on('error', reject).end();
  });
}

describe('the index', () => {
  it('lists runs with verdict, sentence and links', async () => {
    const { status, headers, body } = await get('/?page=3');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(body).toContain('121 folders in the store');
    expect(body).toContain('hw broke its word');
    expect(body).toContain('href="/files/run/2026-11-30T101019227Z/report.html"');
    expect(body).toContain('href="/files/run/2026-11-30T101019227Z/"');
  });

  it('comes in pages, and takes the nearest where there is none of that number', async () => {
    const rows = async (query: string): Promise<number> => (await get(`/${query}`)).body.split('<tr>').length - 2;
    expect(await Promise.all(['', '?page=1', '?page=3', '?page=99', '?page=-1', '?page=x'].map(rows))).toEqual([
      50, 50, 21, 21, 50, 50,
    ]);
  });
});

describe('a file', () => {
  it.each([
    ['report.html', 'text/html; charset=utf-8'],
    ['results.json', 'application/json; charset=utf-8'],
    ['junit.xml', 'application/xml; charset=utf-8'],
    ['summary.md', 'text/plain; charset=utf-8'],
    ['history.jsonl', 'text/plain; charset=utf-8'],
    ['empty.txt', 'text/plain; charset=utf-8'],
    ['data/1/replication-offset-checkpoint', 'text/plain; charset=utf-8'],
    ['data/1/tide-0/00000000000000000000.log', 'application/octet-stream'],
  ])('%s is sent as %s, to be taken for nothing else', async (name, type) => {
    const { status, headers, body } = await get(`/files/latest/${name}`);
    expect([status, headers['content-type'], headers['x-content-type-options']]).toEqual([200, type, 'nosniff']);
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*; sandbox$/);
    expect(Buffer.byteLength(body)).toBe(Number(headers['content-length']));
  });

  it('answers HEAD without its content', async () => {
    const { status, headers, body } = await get('/files/latest/report.html', { method: 'HEAD' });
    expect([status, body]).toEqual([200, '']);
    expect(Number(headers['content-length'])).toBeGreaterThan(1_000);
  });
});

describe('a folder', () => {
  it('is listed, with links to what is in the store', async () => {
    const { body } = await get('/files/latest/');
    expect(body).toContain('<a href="./data/">data/</a>');
    expect(body).toContain('<a href="./%3Cb%3E%26.txt">&lt;b&gt;&amp;.txt</a>');
    expect(body).toMatch(/out <span class="note">\(leads nowhere/);
    expect((await get('/files/latest/%3Cb%3E%26.txt')).body).toBe('strange');
  });

  it('is found without its slash, too', async () => {
    const { status, headers } = await get('/files/latest');
    expect([status, headers.location]).toEqual([301, '/files/latest/']);
    expect((await get('/files/')).body).toContain('<a href="./run/">run/</a>');
  });
});

describe('nothing else', () => {
  it.each([
    '/nowhere',
    '/files/nowhere',
    '/files/../../secret',
    '/files/%2e%2e/secret',
    '/files/..%2fsecret',
    '/files/above/secret',
    '/files/latest/out',
    '/files/latest/pipe',
    '/files/latest/report.html/',
    '/files//latest/report.html',
    '/files/latest/report.html%00',
    '/files/latest/%ff',
    '/files/latest/%',
    '/files/C:%5Csecret',
    'http://127.0.0.1/files/latest/report.html',
    '*',
  ])('can be had: %s', async (path) => {
    const { status, body } = await get(path);
    expect(status).toBe(404);
    expect(body).toMatch(/^there is no.*\n$/);
  });

  it('is told to who asks by another name', async () => {
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', `127.0.0.1.evil.example:${port}`]) {
      const { status, body } = await get('/', { host });
      expect([status, body.length < 100]).toEqual([421, true]);
    }
    expect((await get('/', { host: `LOCALHOST:${port}` })).status).toBe(200);
  });

  it('is changed', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, headers } = await get('/files/latest/report.html', { method });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });

  it('is listened to but the loopback address', () => {
    expect((server.address() as AddressInfo).address).toBe('127.0.0.1');
  });
});
