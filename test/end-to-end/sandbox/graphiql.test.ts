import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { type RawAnswer, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
const openPage = (headers = {}) =>
  rawRequest(`${app.url}/graphql`, { headers: { accept: 'text/html,*/*;q=0.8', ...headers } });

describe('the page', () => {
  test('is served only to browsers, and can be neither cached nor framed because it contains a token', async () => {
    const { headers, text, status } = await openPage();
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const answer = await rawRequest(`${app.url}/graphql?query={__typename}`);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(text).toContain('"token":"eyJ');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  test('runs only scripts of this server, and no inline script', async () => {
    const { headers, text } = await openPage();
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    for (const [tag, body] of text.matchAll(/<script[^>]*>([^<]*)/g)) {
      if (!tag.includes('type="application/json"')) expect(body).toBe('');
    }
    expect(text).not.toMatch(/\son\w+=|javascript:/);
  });
});

describe('the assets of the page', () => {
  const unpack = ({ headers, bytes }: RawAnswer) => {
    if (headers['content-encoding'] === 'br') return brotliDecompressSync(bytes);
    return headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  };

  test('are compressed, and cached forever under a hash of their content', async () => {
    const { text } = await openPage();
    const paths = new Set(text.match(/\/graphiql\/[\da-f]{16}\/[\w.-]+/g));
    const names = [...paths].map((path) => path.split('/').at(-1));
    expect(names).toEqual(expect.arrayContaining(['react.js', 'main.js', 'graphiql.css']));
    for (const path of paths) {
      const plain = await rawRequest(`${app.url}${path}`);
      expect(plain.status).toBe(200);
      expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
      // Smaller assets are not compressed.
      if (plain.bytes.length <= 1024) continue;
      for (const encoding of ['br', 'gzip']) {
        const headers = { 'accept-encoding': encoding };
        const packed = await rawRequest(`${app.url}${path}`, { headers });
        expect(packed.headers['content-encoding']).toBe(encoding);
        expect(packed.headers.vary?.toLowerCase()).toContain('accept-encoding');
        expect(packed.headers['content-type']).toBe(plain.headers['content-type']);
        expect(packed.bytes.length).toBeLessThan(plain.bytes.length);
        expect(unpack(packed).equals(plain.bytes)).toBe(true);
      }
    }
  });

  test.each(['/graphiql/nothing.js', '/graphiql/../../package.json'])(
    'are only those that are listed: %s is not found',
    async (path) => {
      expect((await rawRequest(`${app.url}${path}`)).status).toBe(404);
    },
  );
});

describe('without the sandbox', () => {
  test('there are no users to choose from, and no token', async () => {
    await using own = await startTestApp({ GRAPHIQL: 'on' }, { gateway: app.sandbox });
    const headers = { accept: 'text/html' };
    const { status, text } = await rawRequest(`${own.url}/graphql`, { headers });
    expect(status).toBe(200);
    expect(text).not.toContain('example.com');
    expect(text).not.toContain('Bearer');
    expect(text).not.toContain('eyJ');
    // The page contains neither examples nor the gateway's address.
    expect(text).not.toMatch(/TEST\.|\bmutation\b/);
    expect(text).not.toContain(app.sandbox.url);
  });
});
