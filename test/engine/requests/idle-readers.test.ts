import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  askAndStall,
  cuts,
  MEGABYTE,
  UNTAKEN_BYTES,
  unreadBytes,
} from '../../end-to-end/limits/slow-reader.ts';
import { initializedSocket } from '../../end-to-end/live/raw-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { extendedSchema } from '../../support/extended-schema.ts';
import { sharedApp } from '../../support/shared-app.ts';

const UNREAD_MS = 800;

const untaken = 'a'.repeat(UNTAKEN_BYTES);
// Each character has six bits of entropy, so the compressed text is still long.
const random = randomBytes(8 * MEGABYTE).toString('base64url');
/** Short queries with long answers. */
const schema = extendedSchema(['Query', 'Catalog', 'PositionChanges'], {
  longText: () => untaken,
  randomText: () => random,
});

const app = sharedApp(
  { RATE_LIMIT_PER_MINUTE: '1000000', MAX_COST: '100000000' },
  { schema, connections: { unreadMs: UNREAD_MS } },
);
const token = () => app.sandbox.token({ email: 'demo@example.com' });

const LONG = 'longText';
const LIVE = `subscription { positionChanges { ${LONG} } }`;

function stalledRequest(query: string, headers: Record<string, string> = {}) {
  return askAndStall(app, query, { token: token(), headers });
}

async function stalledSocket(query: string): Promise<Disposable> {
  const raw = await initializedSocket(app, token());
  raw.socket.pause();
  raw.subscribe('1', query);
  return raw;
}

test.each([
  ['a whole answer', () => stalledRequest(`{ ${LONG} }`)],
  ['a compressed answer', () => stalledRequest('{ randomText }', { 'accept-encoding': 'gzip' })],
  ['an answer made of the catalog', () => stalledRequest(`{ catalog { version ${LONG} } }`)],
  ['a rare Accept', () => stalledRequest(`{ ${LONG} }`, { accept: 'application/json;q=0.9' })],
  ['an event stream', () => stalledRequest(LIVE, { accept: 'text/event-stream' })],
  ['a query on a WebSocket', () => stalledSocket(`{ ${LONG} }`)],
  ['a subscription on a WebSocket', () => stalledSocket(LIVE)],
])(
  'a client that reads nothing is disconnected, and its buffers are released: %s',
  async (_way, open) => {
    const before = await cuts(app, 'unread');
    using _reader = await open();
    await eventually(async () => expect(await cuts(app, 'unread')).toBe(before + 1));
    expect(await unreadBytes(app)).toBe(0);
  },
);
