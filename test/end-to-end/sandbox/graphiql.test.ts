import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeWithChromium } from '../../support/describe-with.ts';
import { type RawAnswer, rawRequest } from '../../support/raw-request.ts';

let app: TestApp;
const openPage = (headers = {}) =>
  rawRequest(`${app.url}/graphql`, { headers: { accept: 'text/html,*/*;q=0.8', ...headers } });

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe('the page', () => {
  test('is served to browsers only', async () => {
    const page = await openPage();
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const answer = await rawRequest(`${app.url}/graphql?query={__typename}`);
    expect(answer.headers['content-type']).toContain('application/json');
  });

  test('contains a token, so it may be neither cached nor framed', async () => {
    const { headers, text } = await openPage();
    expect(text).toContain('Bearer eyJ');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  test('refers to no other host', async () => {
    const { text } = await openPage();
    const links = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link ?? '');
    expect(links.length).toBeGreaterThanOrEqual(3);
    for (const link of links) expect(link).toMatch(/^(\/graphiql\/|data:)/);
    expect(text).not.toMatch(/https?:\/\//);
  });

  test('is compressed as the browser accepts', async () => {
    const { headers, bytes } = await openPage({ 'accept-encoding': 'gzip, deflate, br' });
    expect(headers['content-encoding']).toBe('br');
    expect(String(brotliDecompressSync(bytes))).toContain('<!doctype html>');
  });

  test('is served without a token where signing in fails', async () => {
    app.sandbox.fail({ operation: 'login', kind: 'status', status: 500 });
    const { status, text } = await openPage();
    app.sandbox.clearFaults();
    expect(status).toBe(200);
    expect(text).not.toContain('Bearer eyJ');
  });
});

describe('its assets', () => {
  const unpacked = ({ headers, bytes }: RawAnswer) => {
    if (headers['content-encoding'] === 'br') return brotliDecompressSync(bytes);
    return headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  };

  test('are compressed, and cached for good under a hash of their content', async () => {
    const { text } = await openPage();
    const paths = new Set(text.match(/\/graphiql\/[\da-f]{16}\/[\w.]+/g));
    expect(paths.size).toBe(5);
    for (const path of paths) {
      const plain = await rawRequest(`${app.url}${path}`);
      expect(plain.status).toBe(200);
      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      for (const encoding of ['br', 'gzip']) {
        const headers = { 'accept-encoding': encoding };
        const packed = await rawRequest(`${app.url}${path}`, { headers });
        expect(packed.headers['content-encoding']).toBe(encoding);
        expect(packed.headers.vary?.toLowerCase()).toContain('accept-encoding');
        expect(packed.headers['content-type']).toBe(plain.headers['content-type']);
        expect(packed.bytes.length).toBeLessThan(plain.bytes.length);
        expect(unpacked(packed).equals(plain.bytes)).toBe(true);
      }
    }
  });
});

describeWithChromium('in a browser', (executablePath) => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  afterAll(() => browser.close());

  test('the first query runs as the demo user, and no other host receives a request', async () => {
    const page = await browser.newPage();
    const hosts = new Set<string>();
    const problems: string[] = [];
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol.startsWith('http')) hosts.add(host);
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('requestfailed', (request) => problems.push(`${request.url()} failed`));

    await page.goto(`${app.url}/graphql`);
    await page.getByRole('button', { name: /execute query/i }).click();
    const result = page.locator('.result-window');
    await result.getByText('"balance"').waitFor();

    expect(await result.innerText()).toContain('50000');
    expect([...hosts]).toEqual([new URL(app.url).host]);
    expect(problems).toEqual([]);
    await page.close();
  });
});
