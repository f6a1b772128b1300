import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeComparisonReport } from '../../../harness/report/comparison.ts';
import { writeNightReport } from '../../../harness/report/night.ts';
import { writeRunReport } from '../../../harness/report/run.ts';
import { s1a, s1aPrime } from '../../checker/schedules.ts';
import { have } from '../../require.ts';
import { nightOf, pairOf, cellOf } from '../nightly/pairs.ts';
import { temporaryFolder, writeComparisonFolder, writeRunFolder } from './folder.ts';

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Seen {
  readonly page: Page;
  /** Requests beyond the page itself, and everything that the console said. */
  readonly requests: string[];
  readonly complaints: string[];
}

describe.skipIf(!have.chromium)('a report in a browser', () => {
  const directory = temporaryFolder();
  const pages = { run: '', comparison: '', clean: '', night: '' };
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath(), args: quiet });
    writeRunFolder(join(directory, 'run'), s1aPrime('hw'));
    pages.run = writeRunReport(join(directory, 'run'));
    writeRunFolder(join(directory, 'clean'), s1a('epoch'));
    pages.clean = writeRunReport(join(directory, 'clean'));
    mkdirSync(join(directory, 'comparison'));
    writeComparisonFolder(join(directory, 'comparison'));
    pages.comparison = writeComparisonReport(join(directory, 'comparison'));
    mkdirSync(join(directory, 'night'));
    const cells = ['x.y.calm', 'x.y.rough', 'x.z.calm'].map((name) => cellOf(name, [pairOf(1, false, true)]));
    writeFileSync(join(directory, 'night', 'results.json'), JSON.stringify(nightOf(cells)));
    pages.night = writeNightReport(join(directory, 'night'));
  });
  afterAll(async () => {
    await browser.close();
    rmSync(directory, { recursive: true });
  });

  /** Opens a report and calls `look`; closes it whatever happens. */
  async function open(name: keyof typeof pages, options: BrowserContextOptions, look: (seen: Seen) => Promise<void>) {
    const context = await browser.newContext(options);
    try {
      const page = await context.newPage();
      const seen: Seen = { page, requests: [], complaints: [] };
      const url = pathToFileURL(pages[name]).href;
      page.on('request', (request) => {
        if (request.url() !== url) seen.requests.push(request.url());
      });
      page.on('console', (message) => seen.complaints.push(message.text()));
      page.on('pageerror', (error) => seen.complaints.push(error.message));
      await page.goto(url);
      await look(seen);
    } finally {
      await context.close();
    }
  }

  it.each(['run', 'clean', 'comparison'] as const)(
    'opens from a file, asks for nothing and complains of nothing: %s',
    async (name) => {
      await open(name, {}, async ({ page, requests, complaints }) => {
        await expect(page.locator('h1').innerText()).resolves.not.toBe('');
        await expect(page.locator('svg').count()).resolves.toBeGreaterThan(3);
        expect(requests).toEqual([]);
        expect(complaints).toEqual([]);
      });
    },
  );

  it('links a night to its cells, and asks for nothing', async () => {
    await open('night', {}, async ({ page, requests, complaints }) => {
      await expect(page.locator('a[href="./x.y.rough/report.html"]').count()).resolves.toBe(1);
      expect([...requests, ...complaints]).toEqual([]);
    });
  });

  it('says everything with scripts switched off', async () => {
    await open('run', { javaScriptEnabled: false }, async ({ page, complaints }) => {
      const text = await page.locator('body').innerText();
      expect(text).toContain('hw broke its word');
      expect(text).toContain('Broker 1 truncates its log from 2 to 1');
      expect(text).toContain('npm run tidemark -- check');
      expect(complaints).toEqual([]);
    });
  });

  it.each([
    ['run', 'light'],
    ['run', 'dark'],
    ['clean', 'light'],
    ['comparison', 'light'],
    ['comparison', 'dark'],
    ['night', 'light'],
    ['night', 'dark'],
  ] as const)('has no accessibility fault that axe can find: %s, %s', async (name, colorScheme) => {
    await open(name, { colorScheme }, async ({ page }) => {
      await page.evaluate(axe);
      const faults = await page.evaluate(async () => {
        const tool = (globalThis as unknown as { axe: { run(): Promise<AxeResult> } }).axe;
        const { violations } = await tool.run();
        return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
      });
      expect(faults).toEqual([]);
    });
  });

  it.each([320, 768, 1440, 2400])('never scrolls sideways as a whole, at %i pixels', async (width) => {
    for (const name of ['run', 'comparison', 'night'] as const) {
      await open(name, { viewport: { width, height: 800 } }, async ({ page }) => {
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect(wide).toBeLessThanOrEqual(width);
      });
    }
  });

  it('lets no two labels of a picture overlap, nor leave it', async () => {
    for (const name of ['run', 'clean', 'comparison'] as const) {
      await open(name, { viewport: { width: 1440, height: 900 } }, async ({ page }) => {
        expect(await page.evaluate(collisions)).toEqual([]);
      });
    }
  });

  it('prints everything that is folded away on the screen', async () => {
    await open('run', {}, async ({ page }) => {
      await page.emulateMedia({ media: 'print' });
      const shown = await page.evaluate(
        '[...document.querySelectorAll("details")].map((each) => getComputedStyle(each, "::details-content").contentVisibility)',
      );
      expect(shown).toEqual(['visible', 'visible']);
    });
  });
});

/** Where the chromium of the PATH is: the browser's driver wants a whole path. */
function chromiumPath(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const path = folders.map((folder) => join(folder, 'chromium')).find((each) => existsSync(each));
  if (path === undefined) throw new Error('chromium answered before, and is not in the PATH now');
  return path;
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** Runs in the page: pairs of texts of one picture whose boxes meet, and texts that stick out of their picture. */
const collisions = `(() => {
  const found = [];
  for (const svg of document.querySelectorAll('figure svg[role=img]')) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map((text) => ({ text: text.textContent.trim(), box: text.getBoundingClientRect() }));
    for (const [index, one] of texts.entries()) {
      if (one.box.left < frame.left - 1 || one.box.right > frame.right + 1) found.push('outside: ' + one.text);
      for (const other of texts.slice(index + 1)) {
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        // The box of a line is taller than its letters.
        if (across > 1 && down > 5) found.push(one.text + ' / ' + other.text);
      }
    }
  }
  return found;
})()`;
