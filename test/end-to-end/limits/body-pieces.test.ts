import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { openRaw } from '../chaos/raw-connection.ts';

const HEAD = 'POST /graphql HTTP/1.1\r\nhost: facade\r\ncontent-type: application/json\r\n';
const CHUNKED_HEAD = `${HEAD}transfer-encoding: chunked\r\n\r\n`;

const app = sharedApp();

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
