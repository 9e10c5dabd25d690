import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { onlyLimited } from '../../support/limits.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { openRaw } from '../chaos/raw-connection.ts';

const FIVE_MEGABYTES = Buffer.alloc(5 * 1024 * 1024, ' ');

const HEAD = 'POST /graphql HTTP/1.1\r\nhost: facade\r\ncontent-type: application/json\r\n';
const CHUNKED_HEAD = `${HEAD}transfer-encoding: chunked\r\n\r\n`;

// What comes of a refused body is charged as well.
const app = sharedApp({ RATE_LIMIT_PER_MINUTE: '1000000' });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

afterAll(() => agent.destroy());

async function post(body: Buffer, encoding = 'identity', { url } = app) {
  const outgoing = request(`${url}/graphql`, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', 'content-encoding': encoding },
  });
  // In pieces, so that the refusal comes while the client still sends.
  for (let at = 0; at < body.length; at += 65_536) outgoing.write(body.subarray(at, at + 65_536));
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  const chunks: Buffer[] = await response.toArray();
  return { status: response.statusCode, text: String(Buffer.concat(chunks)) };
}

test.each([
  ['uncompressed', FIVE_MEGABYTES, 'identity'],
  ['packed', gzipSync(FIVE_MEGABYTES), 'gzip'],
  [
    'compressed, with more behind it',
    Buffer.concat([gzipSync(FIVE_MEGABYTES), FIVE_MEGABYTES]),
    'gzip',
  ],
])(
  'a body that is too large, %s, is refused with a complete response, and the connection stays open',
  async (_how, body, encoding) => {
    for (let i = 0; i < 5; i += 1) {
      const { status, text } = await post(body, encoding);
      expect(status).toBe(413);
      expect(text).toContain('PAYLOAD_TOO_LARGE');
      const next = await post(Buffer.from('{"query":"{ __typename }"}'));
      expect(next.status).toBe(200);
    }
  },
);

test('a packed body is charged as what it unpacks to', async () => {
  await using small = await startTestApp({}, { limits: onlyLimited('messages', 20) });
  const body = Buffer.from(
    JSON.stringify({ query: '{ __typename }', padding: 'x'.repeat(200_000) }),
  );
  const ask = () => post(brotliCompressSync(body), 'br', small);
  expect((await ask()).status).toBe(200);
  expect((await ask()).status).toBe(429);
});

test('a body that does not end is cut off', async () => {
  using raw = await openRaw(app.url);
  raw.socket.write(`${HEAD}content-length: 99999999999\r\n\r\n`);
  await eventually(() => raw.received.startsWith('HTTP/1.1 413'));
  await eventually(() => {
    if (!raw.isClosed) raw.socket.write('x'.repeat(1000));
    return raw.isClosed;
  });
});

test('a body in more pieces than its size explains is refused', async () => {
  using raw = await openRaw(app.url);
  raw.socket.write(CHUNKED_HEAD + '1\r\n \r\n'.repeat(5_000));
  await eventually(() => raw.received.includes('The body comes in too many pieces.'));
  expect(raw.received).toMatch(/^HTTP\/1\.1 413 /);
});

test('a body of 200 kB is read in segments of a slow network, announced or chunked', async () => {
  const body = JSON.stringify({ query: '{ __typename }', padding: 'x'.repeat(200_000) });
  const pieces = body.match(/.{1,1400}/gs) as string[];
  const announced = [`${HEAD}content-length: ${body.length}\r\n\r\n`, ...pieces];
  const chunks = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  for (const segments of [announced, [CHUNKED_HEAD, ...chunks, '0\r\n\r\n']]) {
    using raw = await openRaw(app.url);
    raw.socket.setNoDelay(true);
    for (const segment of segments) {
      await new Promise((resolve) => raw.socket.write(segment, resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => raw.received.includes('"__typename":"Query"'));
  }
});
