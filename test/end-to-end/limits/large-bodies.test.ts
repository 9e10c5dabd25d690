import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

const FIVE_MEGABYTES = Buffer.alloc(5 * 1024 * 1024, ' ');

let app: TestApp;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => {
  agent.destroy();
  await app.close();
});

async function post(body: Buffer, encoding = 'identity') {
  const outgoing = request(`${app.url}/graphql`, {
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

test('a body that does not end is cut off', async () => {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  // The connection is reset in the middle of the body.
  socket.on('error', () => {});
  socket.write(
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n',
  );
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('HTTP/1.1 413');
  await eventually(() => {
    if (!socket.destroyed) socket.write('x'.repeat(1000));
    return socket.destroyed;
  });
});
