import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { openRaw, statusesOf } from './raw-connection.ts';

const app = sharedApp();

const QUERY = '{"query":"{ __typename }"}';
const POST = 'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
const ALIVE = 'GET /health/live HTTP/1.1\r\nhost: a\r\n\r\n';

async function isServing(): Promise<boolean> {
  return (await app.query('{ __typename }')).data?.__typename === 'Query';
}

describe('an upgrade to another protocol', () => {
  test('is ignored, as from clients that try HTTP/2 first', async () => {
    using raw = await openRaw(app.url);
    const offer =
      'connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n';
    raw.socket.write(`${POST}${offer}content-length: ${QUERY.length}\r\n\r\n${QUERY}`);
    await eventually(() => raw.received.includes('"__typename":"Query"'));
    expect(raw.received).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('on a connection that is reset immediately affects no other client', async () => {
    for (const path of ['/nowhere', '/graphql']) {
      for (let time = 0; time < 50; time += 1) {
        using raw = await openRaw(app.url);
        raw.socket.write(
          `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n${'x'.repeat(time * 1_000)}`,
        );
        const closed = once(raw.socket, 'close');
        if (time % 2 === 0) raw.socket.resetAndDestroy();
        else setImmediate(() => raw.socket.resetAndDestroy());
        await closed;
      }
    }
    expect(await isServing()).toBe(true);
  });
});

describe('a request that two servers could parse differently', () => {
  const hidden = `0\r\n\r\n${ALIVE}`;

  test.each([
    ['with a length and in chunks', 'content-length: 6\r\ntransfer-encoding: chunked'],
    ['with two lengths', 'content-length: 6\r\ncontent-length: 7'],
    ['with a list of lengths', 'content-length: 6, 6'],
    ['with a sign before the length', 'content-length: +6'],
    ['with chunks that are not last', 'transfer-encoding: chunked, identity'],
    ['with a blank before the colon', 'content-length : 6'],
    ['with a folded header', 'x-folded: a\r\n b\r\ncontent-length: 6'],
    ['with a NUL in a header', 'x-nul: a\0b\r\ncontent-length: 6'],
  ])('is refused, and nothing behind it is answered: %s', async (_what, headers) => {
    expect(await statusesOf(app.url, `${POST}${headers}\r\n\r\n${hidden}`)).toEqual(['400']);
  });

  test('is not smuggled by the body of a GET', async () => {
    const inner = 'GET /health/ready HTTP/1.1\r\nhost: a\r\n\r\n';
    const get = `GET /health/live HTTP/1.1\r\nhost: a\r\ncontent-length: ${inner.length}\r\n\r\n`;
    expect(await statusesOf(app.url, get + inner)).toEqual(['200', '200']);
  });
});

describe('a single-valued header that comes twice', () => {
  const DOUBLED = [
    ['Host', 'host: b\r\n'],
    ['Host, written otherwise', 'HOST: a\r\n'],
    ['Content-Type', 'content-type: application/json\r\nContent-Type: application/json\r\n'],
    ['Authorization', 'authorization: Bearer a\r\nAuthorization: Bearer a\r\n'],
  ] as const;

  test.each(DOUBLED)('is refused, and nothing behind it is answered: %s', async (_what, lines) => {
    const head = 'POST /graphql HTTP/1.1\r\nhost: a\r\n';
    const type = lines.includes('content-type') ? '' : 'content-type: application/json\r\n';
    const post = `${head}${type}${lines}content-length: ${QUERY.length}\r\n\r\n${QUERY}`;
    expect(await statusesOf(app.url, post + ALIVE)).toEqual(['400']);
    const get = `GET /health/live HTTP/1.1\r\nhost: a\r\n${lines}\r\n`;
    expect(await statusesOf(app.url, get + ALIVE)).toEqual(['400']);
  });

  test.each(DOUBLED)('opens no WebSocket: %s', async (_what, lines) => {
    using raw = await openRaw(app.url);
    const upgrade =
      'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n';
    raw.socket.write(`GET /graphql HTTP/1.1\r\nhost: a\r\n${upgrade}${lines}\r\n`);
    await eventually(() => raw.received.includes('\r\n'));
    expect(raw.received).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('is distinguished from headers that may come twice', async () => {
    const lines =
      'accept: text/html\r\naccept: */*\r\nx-forwarded-for: a\r\nx-forwarded-for: b\r\n';
    const others = 'from: a\r\ndate: b\r\ncache-control: no-cache\r\nif-none-match: "a"\r\n';
    const get = `GET /health/live HTTP/1.1\r\nhost: a\r\n${lines}${others}\r\n`;
    expect(await statusesOf(app.url, get)).toEqual(['200', '200']);
  });
});

test('pipelined requests are answered in their order', async () => {
  const requests = ['/health/live', '/nowhere', '/health/live', '/graphql'].map(
    (path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`,
  );
  expect(await statusesOf(app.url, requests.join(''))).toEqual(['200', '404', '200', '400', '200']);
});

test.each([
  ['more headers than anybody needs', `${'x: y\r\n'.repeat(4_000)}`, '431'],
  ['a header that is too long', `x: ${'y'.repeat(20_000)}\r\n`, '431'],
  ['an Expect header that cannot be met', 'expect: miracles\r\n', '417'],
])('%s is %s', async (_what, headers, status) => {
  using raw = await openRaw(app.url);
  raw.socket.write(`GET /health/live HTTP/1.1\r\nhost: a\r\n${headers}\r\n`);
  await once(raw.socket, 'data');
  expect(raw.received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test.each(['/metrics', '/../metrics', '//metrics', '/%6detrics', '/graphql/../metrics'])(
  'metrics are not on the public port: %s',
  async (path) => {
    expect(await statusesOf(app.url, `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)).toEqual([
      '404',
      '200',
    ]);
  },
);
