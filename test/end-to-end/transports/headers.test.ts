import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
const endpoint = () => `${app.url}/graphql`;

const SMALL = JSON.stringify({ query: '{ __typename }' });
const LARGE = JSON.stringify({ query: '{ __schema { types { name description } } }' });

describe('an answer', () => {
  test('may not be stored, and its Vary names token, media type, encoding and origin', async () => {
    for (const answer of [
      await rawPost(endpoint(), SMALL),
      await rawPost(endpoint(), '{'),
      await rawRequest(`${endpoint()}?query={__typename}`),
      await rawRequest(`${endpoint()}?query={session{login}}`),
      await rawRequest(`${app.url}/health/ready`),
    ]) {
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(answer.headers.vary).toBe('Authorization, Accept, Accept-Encoding, Origin');
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
    }
  });

  test('carries the request’s id, and the log names it', async () => {
    const token = app.sandbox.token({ email: 'demo@example.com' });
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 403, times: 1 });
    const answer = await rawPost(endpoint(), JSON.stringify({ query: '{ customerId }' }), {
      'x-request-id': 'screen-42.a:b_c',
      authorization: `Bearer ${token}`,
    });
    expect(answer.headers['x-request-id']).toBe('screen-42.a:b_c');
    expect(app.logged.some((line) => line.includes('"requestId":"screen-42.a:b_c"'))).toBe(true);
  });
});

describe('compression', () => {
  test.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['deflate', undefined],
    ['identity', undefined],
    ['gzip;q=0', undefined],
    ['', undefined],
  ])('of a long answer for a client that accepts %j is %s', async (accepted, encoding) => {
    const answer = await rawPost(endpoint(), LARGE, { 'accept-encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
    const unpacked =
      encoding === 'br'
        ? brotliDecompressSync(answer.bytes)
        : encoding === 'gzip'
          ? gunzipSync(answer.bytes)
          : answer.bytes;
    expect(JSON.parse(String(unpacked)).data.__schema.types.length).toBeGreaterThan(20);
    if (encoding) expect(answer.bytes.length).toBeLessThan(unpacked.length / 2);
  });

  test('of a short answer is not worth it', async () => {
    const answer = await rawPost(endpoint(), SMALL, { 'accept-encoding': 'gzip, br' });
    expect(answer.headers).not.toHaveProperty('content-encoding');
  });
});

test('the health checks refuse no traffic because the gateway is down', async () => {
  await using own = await startTestApp();
  await own.sandbox.close();
  expect((await rawRequest(`${own.url}/health/ready`)).status).toBe(200);
});
