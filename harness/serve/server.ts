/**
 * The web server of `tidemark serve`: pages over the store, and its files, to read and never to change.
 *
 * It listens on the loopback address alone, and answers only who asks for it by that name: a page of some other site whose
 * name was made to point here (DNS rebinding) gets nothing. A store may hold what others made, so everything is sent as
 * what it is (nosniff) and into a sandbox without scripts, and no path or link leads out of the store.
 */
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { basename, extname, join } from 'node:path';
import { constants } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isSystemError } from '../errors.ts';
import { isWithin } from '../within.ts';
import { Catalogue, listStore } from './catalogue.ts';
import { filesAt, folderPage, indexPage, pieceOf, type FolderItem } from './pages.ts';

export const loopback = '127.0.0.1';

const ENTRIES_PER_PAGE = 50;
const FILES_PER_PAGE = 500;
const CONNECTIONS_MAX = 100;

const security = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const;

/** A server over the store at `root` (free of links), which is called `shown`. Not listening yet. */
export function createStoreServer(root: string, shown: string): Server {
  const catalogue = new Catalogue(root);
  const server = createServer((request, response) => {
    answer({ root, shown, catalogue }, request, response).catch((error: unknown) => {
      // A reader who has gone away, or a file that changed while it was sent.
      if (response.headersSent || response.destroyed) response.destroy();
      else if (isSystemError(error)) refuse(response, 500, 'the store cannot be read there');
      else throw error;
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

interface Store {
  readonly root: string;
  readonly shown: string;
  readonly catalogue: Catalogue;
}

async function answer(store: Store, request: IncomingMessage, response: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(security)) response.setHeader(name, value);
  if (!isOurName(request)) return refuse(response, 421, 'this server answers to 127.0.0.1 and localhost only');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return refuse(response, 405, 'the store can only be read');
  }
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const wanted = Number(new URLSearchParams(query).get('page') ?? 1);
  if (path === '/') return sendIndex(store, response, wanted);
  const segments = path.startsWith(filesAt) ? segmentsOf(path.slice(filesAt.length)) : null;
  if (segments === null) return refuse(response, 404, 'there is nothing of that name');
  await sendStored(store, response, segments, { wanted, slash: path.endsWith('/') });
}

/** Whether the browser asks for us by a name of the loopback address. */
function isOurName({ headers: { host = '' }, socket }: IncomingMessage): boolean {
  const names = [loopback, 'localhost'];
  const ours = names.flatMap((name) => [`${name}:${socket.localPort}`, ...(socket.localPort === 80 ? [name] : [])]);
  return ours.includes(host.toLowerCase());
}

/** The names of a path; null where one of them is no plain name. */
function segmentsOf(path: string): string[] | null {
  const parts = path.replace(/\/$/, '').split('/');
  if (parts.length === 1 && parts[0] === '') return [];
  const names: string[] = [];
  for (const part of parts) {
    let name: string;
    try {
      name = decodeURIComponent(part);
    } catch {
      return null;
    }
    if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) return null;
    names.push(name);
  }
  return names;
}

function sendIndex({ root, shown, catalogue }: Store, response: ServerResponse, wanted: number): void {
  const piece = pieceOf(listStore(root), wanted, ENTRIES_PER_PAGE);
  const nowMs = Date.now();
  const items = piece.items.map((entry) => ({ ...entry, ...catalogue.describe(entry.name, nowMs) }));
  sendPage(response, indexPage(shown, { ...piece, items }));
}

async function sendStored(
  { root }: Store,
  response: ServerResponse,
  segments: readonly string[],
  { wanted, slash }: { readonly wanted: number; readonly slash: boolean },
): Promise<void> {
  const path = await withinStore(root, join(root, ...segments));
  if (path === null) return refuse(response, 404, 'there is nothing of that name');
  // What is no file may block for ever when it is opened, or be no end of bytes.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) return await sendFolder(root, response, segments, { wanted, slash, path });
    if (!stats.isFile() || slash) return refuse(response, 404, 'there is no file of that name');
    response.setHeader('Content-Type', typeOf(path));
    response.setHeader('Content-Length', stats.size);
    if (response.req.method === 'HEAD' || stats.size === 0) response.end();
    // A file that grows is sent as long as it was.
    else await pipeline(handle.createReadStream({ start: 0, end: stats.size - 1, autoClose: false }), response);
  } finally {
    await handle.close();
  }
}

async function sendFolder(
  root: string,
  response: ServerResponse,
  segments: readonly string[],
  { wanted, slash, path }: { readonly wanted: number; readonly slash: boolean; readonly path: string },
): Promise<void> {
  if (!slash) {
    // Links of a page count from the folder that it stands in.
    response.setHeader('Location', `${filesAt}${segments.map(encodeURIComponent).join('/')}/`);
    return refuse(response, 301, 'it is a folder');
  }
  const names = (await readdir(path)).sort();
  const piece = pieceOf(names, wanted, FILES_PER_PAGE);
  const items = await Promise.all(piece.items.map((name) => itemAt(root, path, name)));
  sendPage(response, folderPage(segments.join('/'), { ...piece, items }));
}

async function itemAt(root: string, folder: string, name: string): Promise<FolderItem> {
  const path = await withinStore(root, join(folder, name));
  if (path === null) return { name, kind: null, bytes: 0 };
  const stats = await stat(path).catch(() => null);
  const kind = stats === null ? null : stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : null;
  return { name, kind, bytes: stats?.size ?? 0 };
}

/** The path free of links; null where there is nothing, or where it leads out of the store. */
async function withinStore(root: string, path: string): Promise<string | null> {
  try {
    const real = await realpath(path);
    return isWithin(root, real) ? real : null;
  } catch {
    return null;
  }
}

const text = 'text/plain; charset=utf-8';
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
  // Browsers show them as they are, which is what people want to see of them.
  '.jsonl': text,
  '.md': text,
  '.txt': text,
  '.edn': text,
  '.scenario': text,
  '.log': text,
  '.gz': 'application/gzip',
  '.zst': 'application/zstd',
};

/** A segment of Kafka's is called `.log`, too, and is no text; its checkpoints are, and have no ending. */
function typeOf(path: string): string {
  const name = basename(path);
  if (/^\d{20}\.log$/.test(name)) return 'application/octet-stream';
  if (name.endsWith('-checkpoint') || name === 'meta.properties') return text;
  return types[extname(name)] ?? 'application/octet-stream';
}

function sendPage(response: ServerResponse, page: string): void {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(page));
  response.end(response.req.method === 'HEAD' ? undefined : page);
}

function refuse(response: ServerResponse, status: number, why: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', text);
  response.end(response.req.method === 'HEAD' ? undefined : `${why}\n`);
}
