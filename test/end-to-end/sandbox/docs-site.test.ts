import { globSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { beforeAll, describe, expect, test } from 'vitest';
import { createSearch, WORDS } from '../../../graphiql/docs/search.js';
import { schemaPage } from '../../../graphiql/schema-page.ts';
import { buildDocs } from '../../../graphiql/server/build-docs.ts';
import { sitePath } from '../../../graphiql/server/docs-pages.ts';
import { renderMarkdown } from '../../../graphiql/server/markdown.ts';
import { ERROR_CODES } from '../../../src/schema/error-codes.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import {
  isReady,
  openPage,
  overflowsSideways,
  type PageOptions,
  violations,
} from '../../support/browser-page.ts';
import { describeInBrowser } from '../../support/describe-in-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { listenLocally } from '../../support/local-server.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { turnsDuring } from '../../support/turns.ts';
import { QUESTIONS } from './docs-questions.ts';

const ROOT = join(import.meta.dirname, '../../..');
const app = sharedApp();
const get = (path: string) => rawRequest(`${app.url}${path}`);
const hrefs = (html: string) => [...html.matchAll(/ href="([^"]*)"/g)].map(([, href = '']) => href);
const ids = (html: string) => new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));

describe('the documentation', () => {
  const pages = new Map<string, string>();

  /** Reads every page that a link leads to, from the first one on. */
  beforeAll(async () => {
    const waiting = ['/docs'];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      if (pages.has(path)) continue;
      const { status, text, headers } = await get(path);
      expect([path, status]).toEqual([path, 200]);
      const isPage = headers['content-type'] === 'text/html; charset=utf-8';
      pages.set(path, isPage ? text : '');
      const linked = isPage ? hrefs(text).map((href) => href.replace(/#.*/, '')) : [];
      waiting.push(...linked.filter((href) => /^\/(docs|schema)/.test(href)));
    }
  });

  test('has every page of docs/, each in reach of a link', () => {
    const files = globSync('docs/**/*.md', { cwd: ROOT });
    expect(files.length).toBeGreaterThan(30);
    expect(files.map(sitePath).filter((path) => !pages.has(path))).toEqual([]);
  });

  test('has no link to a page or a heading that is not there', () => {
    const broken = [...pages].flatMap(([from, html]) =>
      hrefs(html).flatMap((href) => {
        const [path, anchor] = href.split('#');
        const target = pages.get(path || from);
        const isThere = anchor === undefined || !target || ids(target).has(anchor);
        const isFile = /\.md$/.test(path ?? '') && !/^https?:/.test(href);
        return isThere && !isFile ? [] : [{ from, href }];
      }),
    );
    expect(broken).toEqual([]);
  });

  test('names no program of the service as a command, which Node 20 does not run', () => {
    const named = [...pages].filter(([, html]) =>
      /<code>node (?:src|scripts)\/[\w/-]+\.ts/.test(html),
    );
    expect(named.map(([path]) => path)).toEqual([]);
  });

  test('has a reference of the schema, whose examples open in GraphiQL', async () => {
    const html = pages.get('/docs/schema') ?? '';
    expect(ids(html).has('instrument')).toBe(true);
    expect(hrefs(html).filter((href) => href.startsWith('/graphql?query=')).length).toBeGreaterThan(
      20,
    );
  });

  test('has an anchor for each code of errors, as it is written', () => {
    const anchors = ids(pages.get('/docs/errors') ?? '');
    expect(Object.keys(ERROR_CODES).filter((code) => !anchors.has(code))).toEqual([]);
  });

  test('runs its own scripts alone, and loads nothing from elsewhere', async () => {
    const { headers, text } = await get('/docs/orders');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(text).not.toMatch(/<script>|\sstyle=|\son\w+=|<img/);
    const loaded = [...text.matchAll(/(?:src|stylesheet" href)="([^"]*)"/g)].map(
      ([, path]) => path,
    );
    expect(loaded).toHaveLength(2);
    for (const path of loaded) expect((await get(String(path))).status).toBe(200);
  });

  test('shows code in colours, when a page was changed, and what comes before and after it', () => {
    const html = pages.get('/docs/extensions') ?? '';
    expect(html).toContain('<span class="hljs-keyword">');
    expect(html).toMatch(/Last changed \d{4}-\d\d-\d\d/);
    const places = [...html.matchAll(/<a rel="(prev|next)" href="([^"]+)"/g)].map((one) => one[1]);
    expect(places).toEqual(['prev', 'next']);
  });
});

test('of forty questions 36 are answered among the first five pages, 26 by the first', async () => {
  const ranks = await Promise.all(
    QUESTIONS.map(async ([query, ...wanted]) => {
      const { text } = await get(`/docs?q=${encodeURIComponent(query)}`);
      const found = hrefs(text.slice(text.indexOf('<ol class="found">'))).map((href) =>
        href.replace(/#.*/, ''),
      );
      return found.findIndex((path) => wanted.includes(path));
    }),
  );
  const missed = QUESTIONS.filter((_, at) => (ranks[at] ?? -1) < 0 || (ranks[at] ?? -1) > 4);
  expect(ranks.length).toBeGreaterThanOrEqual(40);
  expect(missed.length, missed.map(([query]) => query).join('; ')).toBeLessThanOrEqual(4);
  expect(ranks.filter((rank) => rank === 0).length).toBeGreaterThanOrEqual(26);
});

test('the words that lead to a section lead to one that is there', async () => {
  const [, assets] = /src="([^"]*)\/site\.js"/.exec((await get('/docs')).text) ?? [];
  const { text } = await get(`${assets}/sections.json`);
  const titles = new Set((JSON.parse(text) as { title: string }[]).map(({ title }) => title));
  expect([...WORDS.keys()].filter((title) => !titles.has(title))).toEqual([]);
});

test('a page is found by its file, as alerts name it; a search finds pages by some of its words, marks them, and shows them as text', async () => {
  const { status, headers } = await get('/docs/runbook.md');
  expect([status, headers.location]).toEqual([302, '/docs/runbook']);
  const { text } = await get('/docs?q=voidOrder+doubt');
  expect(hrefs(text)).toContain('/docs/orders#ending-the-doubt');
  expect(text).toMatch(/<mark>voidOrder<\/mark>/);
  const hostile = await get(`/docs?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
  expect(hostile.status).toBe(200);
  expect(hostile.text).toContain('&quot;&gt;&lt;script&gt;');
  expect(hostile.text).not.toContain('<script>');
  // Nobody has asked for anything yet.
  expect((await get('/docs?q=+')).text).not.toMatch(/Search:\s*</);
});

test.each([
  ['cors', '/docs/security#which-requests-are-cross-site'],
  ['pagination', '/docs/catalog#filtering-sorting-paging'],
  ['csp', '/docs/security#pages-of-other-sites'],
  ['healthcheck', '/docs/operations#health-checks'],
  ['flutter', '/docs/clients/protocol#what-a-client-has-to-do'],
  ['python client', '/docs/clients/protocol#what-a-client-has-to-do'],
  ['gdpr', '/docs/security#what-gets-out'],
  ['cancel an order', '/docs/limits-of-use#what-it-does-not-do'],
  ['close a position', '/docs/limits-of-use#what-it-does-not-do'],
  ['file upload', '/docs/limits-of-use#what-it-does-not-do'],
  ['401 after a while', '/docs/clients#staying-signed-in'],
  ['session expired', '/docs/clients#staying-signed-in'],
  ['refresh token', '/docs/clients#staying-signed-in'],
  ['how do I get a token', '/docs/clients#staying-signed-in'],
  ['disable introspection', '/docs/configuration#all-variables'],
  ['behind cloudflare', '/docs/operations#a-load-balancer-of-your-own'],
  ['websocket disconnects every minute', '/docs/operations#a-load-balancer-of-your-own'],
  ['x-forwarded-for', '/docs/limits#who-is-charged'],
  ['too many connections', '/docs/limits#who-is-charged'],
  ['brute force password', '/docs/limits#signing-in'],
  ['install from npm', '/docs/consuming#using-it-and-taking-updates'],
  ['memory limit kubernetes', '/docs/operations#memory'],
  ['graphql playground', '/docs/operations#the-container'],
  ['bundle size', '/docs/client#a-client-of-few-parts'],
  ['battery drain', '/docs/bench/bad-lines#battery'],
  ['reduce data usage cellular', '/docs/bench/bad-lines#on-cellular'],
  ['zero downtime deploy', '/docs/operations#upgrades'],
  ['add field to Instrument', '/docs/extensions#extensions'],
  ['custom scalar', '/docs/extensions#the-kit'],
  ['next.js server side rendering', '/docs/clients/react#the-hooks'],
  ['gateway returns 500', '/docs/gateway#what-its-answers-have-to-be'],
  ['historical prices chart candles', '/docs/limits-of-use#what-it-does-not-do'],
  ['log pii email addresses', '/docs/security#what-gets-out'],
  ['haproxy config', '/docs/operations#a-load-balancer-of-your-own'],
  ['file descriptor limit', '/docs/operations#a-load-balancer-of-your-own'],
  ['compression brotli', '/docs/live#fewer-bytes'],
  ['slow client backpressure', '/docs/limits#answers-that-nobody-reads'],
  ['denial of service protection', '/docs/security#the-service-itself'],
  ['how often are positions polled', '/docs/live#following-an-account-live'],
  ['bearer token for testing', '/docs/sandbox#users'],
  ['memory usage per connection', '/docs/scale#what-grows'],
  ['run without docker', '/docs/deploy/one-machine#several-processes-on-one-machine'],
])(
  'a search for %s finds it among the first two, however it is written there',
  async (query, wanted) => {
    const { text } = await get(`/docs?q=${encodeURIComponent(query)}`);
    const found = hrefs(text.slice(text.indexOf('<ol class="found">')));
    expect(found.slice(0, 2)).toContain(wanted);
  },
);

test.each([
  '/docs/nothing',
  '/docs/../package.json',
  '/docs/%2e%2e/package.json',
  '/docs/files/package.json',
  '/docs/files/..%2fpackage.json',
  '/docs/README',
])('no other file is served: %s', async (path) => {
  expect((await get(path)).status).toBe(404);
});

test('pages and the index of their search are made in many turns, between which requests are answered', async () => {
  const section = { path: '/docs', page: 'Page', id: 'a', title: 'Title', text: 'x', weight: 1 };
  for (const make of [
    () => renderMarkdown('```ts\nconst a = [1, "2"];\n```\n\n'.repeat(3_000), () => null),
    () => createSearch(MiniSearch, Array(200).fill(section)),
  ]) {
    expect(await turnsDuring(make)).toBeGreaterThan(5);
  }
});

const folderOf = () =>
  buildDocs(ROOT, {
    hasService: false,
    made: new Map([['docs/schema.md', schemaPage(buildSchema(), { hasService: false })]]),
  });

test('as a folder it links to nothing that a service alone answers', async () => {
  const docs = await folderOf();
  const known = new Set([...docs.paths, ...docs.assets.keys(), ...docs.files.keys()]);
  const dead = docs.paths.flatMap((path) =>
    hrefs(docs.page(path) ?? '')
      .map((href) => href.replace(/#.*/, ''))
      .filter((href) => href.startsWith('/') && !known.has(href)),
  );
  expect(dead).toEqual([]);
});

const WINDOWS: readonly (PageOptions & { readonly name: string })[] = [
  { name: '320 pixels', viewport: { width: 320, height: 700 }, colorScheme: 'light' },
  { name: '1024 pixels', viewport: { width: 1024, height: 768 }, colorScheme: 'dark' },
  { name: '1440 pixels', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  // A browser's zoom gives a page half as many pixels, of twice the size.
  { name: '1280 at 200 %', viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  { name: 'forced colours', viewport: { width: 1024, height: 768 }, forcedColors: 'active' },
];

describeInBrowser('in a browser', (browser) => {
  test.each(inFull(WINDOWS, WINDOWS.slice(0, 2)))(
    'pages fit and have nothing that axe finds: $name',
    async ({ name: _, ...window }) => {
      for (const path of ['/docs', '/docs/errors', '/docs/clients/react', '/docs?q=limit']) {
        await using opened = await openPage(browser, `${app.url}${path}`, window);
        expect(await overflowsSideways(opened.page), path).toBe(false);
        expect(await violations(opened.page), path).toEqual([]);
        expect(opened.problems).toEqual([]);
      }
    },
  );

  test('on paper nothing is cut off, and nothing is there to be pressed', async () => {
    await using opened = await openPage(browser, `${app.url}/docs/configuration`, {
      viewport: { width: 720, height: 1000 },
    });
    const { page } = opened;
    await page.emulateMedia({ media: 'print' });
    for (const path of ['configuration', 'live']) {
      await page.goto(`${app.url}/docs/${path}`);
      const hidden = (all: Element[]) => all.map((each) => each.scrollWidth - each.clientWidth);
      const cut = await page.locator('pre, .table').evaluateAll(hidden);
      expect(cut.filter((pixels) => pixels > 0)).toEqual([]);
      expect(await page.getByRole('button').count()).toBe(0);
    }
  });

  test('the search answers as one types, by keyboard alone, and says so to screen readers; code is copied', async () => {
    await using opened = await openPage(browser, `${app.url}/docs/live`);
    const { page } = opened;
    await page.keyboard.press('/');
    await page.keyboard.type('circuit breaker');
    const options = page.getByRole('listbox', { name: 'Pages' }).getByRole('option');
    await options.first().waitFor();
    await eventually(async () => {
      expect(await page.getByRole('status').textContent()).toMatch(/^\d+ pages$/);
    });
    expect(await violations(page)).toEqual([]);
    const links = await options.evaluateAll((all) =>
      all.map((one) => one.getAttribute('href') ?? ''),
    );
    const at = links.findIndex((href) => href.includes('/docs/gateway'));
    expect(at).toBeGreaterThanOrEqual(0);
    for (let pressed = 0; pressed <= at; pressed += 1) await page.keyboard.press('ArrowDown');
    expect(await options.nth(at).getAttribute('aria-selected')).toBe('true');
    // Backgrounds are gone with forced colours.
    await page.emulateMedia({ forcedColors: 'active' });
    const outline = (one: Element) => getComputedStyle(one).outlineStyle;
    expect(await options.nth(at).evaluate(outline)).toBe('solid');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForURL(/\/docs\/gateway/);
    await page.goto(`${app.url}/docs/clients/react`);
    const copy = page.getByRole('button', { name: 'Copy' }).first();
    await copy.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^(Copied|Press Ctrl\+C)$/ }).waitFor();
    expect(opened.problems).toEqual([]);
  });

  test('code is selected where a browser has no clipboard, as over plain HTTP', async () => {
    await using opened = await openPage(browser, `${app.url}/docs/clients/react`, {
      initScript: "Object.defineProperty(navigator, 'clipboard', { value: undefined })",
    });
    const { page } = opened;
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Press Ctrl+C' }).waitFor();
    const selected = await page.evaluate<string>('getSelection().toString().trim()');
    expect(await page.locator('pre').first().textContent()).toContain(selected);
    expect(selected).not.toBe('');
    expect(opened.problems).toEqual([]);
  });

  test('as a folder its search opens the first page that it finds', async () => {
    const docs = await folderOf();
    const server = createServer(({ url = '' }, response) => {
      const asset = docs.assets.get(url);
      response.setHeader('content-type', asset?.type ?? 'text/html; charset=utf-8');
      response.end(asset?.text ?? docs.page(url) ?? '');
    });
    await using local = await listenLocally(server);
    await using opened = await openPage(browser, `${local.url}/docs`);
    const { page } = opened;
    await page.keyboard.press('/');
    await page.keyboard.type('circuit breaker');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/gateway#/);
    expect(opened.problems).toEqual([]);
  });

  test('a search that could not be loaded is loaded when one types on', async () => {
    const loseOne =
      '{ const { fetch } = window; window.fetch = () => { window.fetch = fetch; window.isLost = true; return Promise.reject(new TypeError()); }; }';
    await using opened = await openPage(browser, `${app.url}/docs/live`, { initScript: loseOne });
    const { page } = opened;
    await page.keyboard.press('/');
    await page.keyboard.type('circui');
    await page.waitForFunction('window.isLost');
    await eventually(async () => {
      await page.keyboard.type('t');
      await page.keyboard.press('Backspace');
      return (await page.getByRole('option').count()) > 0;
    });
  });

  test('the header of the page, the menu of GraphiQL and the codes of its errors lead there', async () => {
    await using opened = await openPage(browser, app.url);
    const { page } = opened;
    await page.getByRole('banner').getByRole('link', { name: 'Docs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
    await page.goto(`${app.url}/graphql`);
    await page.locator('#docs summary').click();
    const menu = page.getByRole('navigation', { name: 'Documentation' });
    expect(await menu.getByRole('link', { name: 'Errors' }).getAttribute('href')).toBe(
      '/docs/errors',
    );
    await page.goto(`${app.url}/graphql?query=${encodeURIComponent('{ nothing }')}`);
    await isReady(page);
    await page.getByRole('button', { name: /execute query/i }).click();
    await page.locator('#answer-toggle:enabled').click();
    const code = page.getByRole('link', { name: 'GRAPHQL_VALIDATION_FAILED' });
    expect(await code.getAttribute('href')).toBe('/docs/errors#GRAPHQL_VALIDATION_FAILED');
  });
});
