import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { formatUnits } from '../../../src/page/src/format.ts';
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
