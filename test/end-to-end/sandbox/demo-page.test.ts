import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { captionOf } from '../../../src/page/src/caption.ts';
import { formatUnits } from '../../../src/page/src/format.ts';
import { lostVerdict } from '../../../src/page/src/lost-verdict.ts';
import type { Way } from '../../../src/page/src/start-screen.ts';
import { DemoPage } from '../../../src/sandbox/page/demo-page.ts';
import { startTestApp } from '../../support/app.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';

const MAX_COMPRESSED_BYTES = 45_000;
const ASSET = /(?:href|src)="(demo\/[^"]+)"/g;

const app = sharedApp();
const openPage = (url = app.url) =>
  rawRequest(url, { headers: { accept: 'text/html,*/*;q=0.8', 'accept-encoding': 'br' } });
/** Every file that the page names. */
async function assetsOf(url = app.url): Promise<string[]> {
  const page = await rawRequest(url, { headers: { accept: 'text/html' } });
  return [...new Set([...page.text.matchAll(ASSET)].map(([, path = '']) => `/${path}`))];
}

describe('the demonstration page', () => {
  test('is small when compressed, and its files are cached forever under a hash of their content', async () => {
    const page = await openPage();
    expect(page.headers['content-encoding']).toBe('br');
    let bytes = page.bytes.length;
    const assets = await assetsOf();
    expect(assets.length).toBe(1);
    for (const path of assets) {
      const file = await rawRequest(app.url + path, { headers: { 'accept-encoding': 'br' } });
      expect(file.status).toBe(200);
      expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      expect(file.headers['content-type']).toBe('text/javascript; charset=utf-8');
      bytes += file.bytes.length;
    }
    expect(bytes).toBeLessThan(MAX_COMPRESSED_BYTES);
  });

  test('shows order sizes exactly, to the smallest step', () => {
    expect([1.205, 0.001, 791.8, 12_000].map(formatUnits)).toEqual([
      '1.205',
      '0.001',
      '791.8',
      '12,000',
    ]);
  });

  test('says how old a figure is where the phones differ, and nothing where they agree', () => {
    const now = Date.now();
    const way = (equity: number, ageMs: number): Way => ({
      calls: [],
      missing: {},
      startedAt: new Date(now),
      data: {
        session: { equity, balance: 1, currency: 'USD', fetchedAt: new Date(now - ageMs).toJSON() },
        ...{ positions: [], orders: [], watchList: [], withdrawalMethods: [], customerId: 'c' },
      },
    });
    const same = 'both phones show the same 0 positions, and the same orders and instruments';
    expect(captionOf({ rest: way(2, 0), graph: way(2, 25_000) })).toBe(`${same}.`);
    expect(captionOf({ rest: way(2, 0), graph: way(3, 25_000) })).toBe(
      `${same}; the graph’s equity is 25 s older: cached.`,
    );
    const failed = { ...way(2, 0), missing: { session: { call: 'session', reason: '503' } } };
    expect(captionOf({ rest: failed, graph: way(3, 25_000) })).toMatch(
      /^REST shows 4 of 5 parts, no equity; the graph shows 5 of 5 parts, equity of \d\d:\d\d:\d\d\.$/,
    );
  });

  test.each([
    ['accepted', 1, 1, /^REST’s repeat makes 2 .*; the graph’s makes 1: it carries the key of/],
    ['unsent', 0, 0, /; the graph’s order is not placed, and the app can say that nothing was/],
    ['unknown', 1, 0, /; the graph’s order is unknown, with 0 positions, and may be asked about/],
  ])(
    'says of a lost answer what is seen: %s, with %i orders and %i positions',
    (outcome, received, opened, words) => {
      const rest = { sent: 2, outcome: 'accepted', received: 2, opened: 2 };
      expect(lostVerdict(rest, { sent: 2, outcome, received, opened })).toMatch(words);
    },
  );

  test('links to the guide for apps, which is served as text', async () => {
    const page = await rawRequest(app.url, { headers: { accept: 'text/html' } });
    expect(page.text).toContain('href="docs/clients.md"');
    const { status, headers, text } = await rawRequest(`${app.url}/docs/clients.md`);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toMatch(/^# Into your app/);
    for (const path of ['docs/orders.md', 'docs/../package.json']) {
      expect((await rawRequest(`${app.url}/${path}`)).status).toBe(404);
    }
  });

  test('allows only its own script and style', async () => {
    const { headers, text } = await rawRequest(app.url, { headers: { accept: 'text/html' } });
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'sha256-[\w+/=]+'; img-src data:; /,
    );
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)/);
    expect(text).not.toMatch(/\son\w+=|\sstyle=/);
    const links = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link);
    // Every link is a relative path, a place in the page, or the data itself.
    const ownLink = /^(?:[a-z][\w./-]*(?:#|$)|#|data:)/;
    expect(links.filter((link) => !ownLink.test(link))).toEqual([]);
  });

  test('serves no other file of the project', async () => {
    const [first = ''] = await assetsOf();
    // The base consists of `/demo` and the hash.
    const base = first.split('/', 3).join('/');
    for (const path of ['index.html', 'page.js.br', 'src/main.ts', '../package.json']) {
      expect((await rawRequest(`${app.url}${base}/${path}`)).status).toBe(404);
    }
  });

  test('is for browsers: a request from a terminal gets a list of paths', async () => {
    const { status, headers, text } = await rawRequest(app.url);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    const paths = text.match(/\/[\w.]+/g) ?? [];
    expect(paths).toEqual(['/graphql', '/graphql', '/schema.graphql']);
    for (const path of paths) {
      expect((await openPage(app.url + path)).status).toBe(200);
    }
  });

  test('is served only with the sandbox and GraphiQL, and not in production', async () => {
    await using production = await startTestApp({ NODE_ENV: 'production', SANDBOX: 'on' });
    await using withoutSandbox = await startTestApp({}, { gateway: app.sandbox });
    await using withoutGraphiql = await startTestApp({ GRAPHIQL: 'off' });
    const [asset = ''] = await assetsOf();
    for (const { url } of [production, withoutSandbox, withoutGraphiql]) {
      expect((await openPage(url)).text).not.toContain('rest-phone');
      expect((await rawRequest(url + asset)).status).toBe(404);
    }
  });

  test('is not served by an installation without its files', () => {
    expect(DemoPage.ifInstalled(() => true, tmpdir())).toBeNull();
  });
});
