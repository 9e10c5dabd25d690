import { describe, expect, test } from 'vitest';
import type { TestApp } from '../../support/app.ts';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { openSocket } from '../live/raw-socket.ts';
import { moved, seriesValue } from '../operations/scraped.ts';

const OURS = 'https://app.example.com';
const NOT_OURS = [
  'https://app.example.com.evil.example',
  'https://evil-app.example.com',
  'https://sub.app.example.com',
  'http://app.example.com',
  'https://app.example.com:8443',
  'https://APP.example.com',
  'http://localhost:3000',
  'null',
  'https://evil.example',
  '*',
];

const USUAL = [
  'authorization',
  'content-type',
  'x-request-id',
  'apollographql-client-name',
  'apollographql-client-version',
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'x-apollo-operation-id',
];

const listed = sharedApp({
  CORS_ORIGINS: `${OURS},https://other.example`,
  CORS_HEADERS: 'X-Tenant, traceparent',
});
const local = sharedApp();

const BODY = JSON.stringify({ query: '{ __typename }' });

async function allowedOrigin(app: TestApp, origin: string): Promise<string | undefined> {
  const { headers, status } = await rawPost(`${app.url}/graphql`, BODY, { origin });
  expect(status).toBe(200);
  return headers['access-control-allow-origin'];
}

describe('an answer', () => {
  test('may be read by the origins of the list, exactly', async () => {
    expect(await allowedOrigin(listed, OURS)).toBe(OURS);
    for (const origin of NOT_OURS)
      expect(await allowedOrigin(listed, origin), origin).toBeUndefined();
  });

  test('may be read by any page of this machine where there is a sandbox and no list', async () => {
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:5173']) {
      expect(await allowedOrigin(local, origin)).toBe(origin);
    }
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
      expect(await allowedOrigin(local, origin), origin).toBeUndefined();
    }
  });

  test('shows pages the headers that they need, and takes no cookies', async () => {
    const { headers } = await rawPost(`${listed.url}/graphql`, BODY, { origin: OURS });
    expect(headers['access-control-expose-headers']).toBe(
      'date, x-request-id, retry-after, ratelimit',
    );
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });
});

describe('a preflight', () => {
  const ask = (origin: string) =>
    rawRequest(`${listed.url}/graphql`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });

  test('of a listed origin is answered with what may be sent', async () => {
    const { status, headers, text } = await ask(OURS);
    expect([status, text]).toEqual([204, '']);
    expect(headers['access-control-allow-origin']).toBe(OURS);
    expect(headers['access-control-allow-methods']).toBe('GET, POST, OPTIONS');
    expect(headers['access-control-allow-headers']?.split(', ')).toEqual([...USUAL, 'x-tenant']);
    expect(headers['access-control-max-age']).toBe('600');
    expect(headers.vary).toContain('Origin');
  });

  test('of any other origin is answered with nothing', async () => {
    for (const origin of NOT_OURS) {
      const { headers } = await ask(origin);
      const learned = Object.keys(headers).filter((name) => name.startsWith('access-control-'));
      expect(learned, origin).toEqual([]);
    }
  });
});

describe('a WebSocket', () => {
  const connect = async (app: Pick<TestApp, 'webSocketUrl'>, headers: Record<string, string>) => {
    try {
      using _socket = await openSocket(app, undefined, { headers });
      return 101;
    } catch (error) {
      return Number(/\d{3}/.exec(String(error)));
    }
  };

  test('opens to the origins of the list, to this host’s own pages and to apps without one', async () => {
    expect(await connect(listed, { origin: OURS })).toBe(101);
    expect(await connect(listed, { origin: listed.url })).toBe(101);
    expect(await connect(listed, {})).toBe(101);
    expect(await connect(local, { origin: 'http://localhost:3000' })).toBe(101);
  });

  test('is refused to all others, counted, and told of once in a while with both names', async () => {
    const counted = () => seriesValue(listed, 'cross_site_refused_total');
    const before = await counted();
    for (const origin of NOT_OURS) expect(await connect(listed, { origin }), origin).toBe(403);
    expect(await counted()).toBe(before + NOT_OURS.length);
    const lines = listed.logged.map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg.startsWith('a WebSocket for a page'))).toMatchObject([
      { level: 'warn', origin: NOT_OURS[0], host: new URL(listed.url).host },
    ]);
    expect(await connect(local, { origin: 'https://evil.example' })).toBe(403);
  });

  test('that is malformed, as behind a proxy that passes on half of its headers, is counted and told of once in a while', async () => {
    const half = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const refused = async () => {
      const { status } = await rawRequest(`${listed.url}/graphql`, { headers: half });
      expect(status).toBe(400);
    };
    await moved(listed, 'upgrades_refused_total{status="400"}', 2, async () => {
      await refused();
      await refused();
    });
    const lines = listed.logged.map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg.startsWith('a malformed request'))).toMatchObject([
      { level: 'warn', reason: 'Missing or invalid Sec-WebSocket-Key header' },
    ]);
    await moved(listed, 'upgrades_refused_total{status="403"}', 1, () =>
      connect(listed, { origin: 'https://evil.example' }),
    );
  });

  test('opens at one path only', async () => {
    const nowhere = { webSocketUrl: listed.webSocketUrl.replace('/graphql', '/nope') };
    expect(await connect(nowhere, {})).toBe(404);
  });
});
