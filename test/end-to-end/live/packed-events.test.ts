import { beforeAll, expect, test } from 'vitest';
import type { ClientOptions } from 'ws';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { openSocket, type RawSocket } from './raw-socket.ts';

const ROW =
  '{ id symbol name side units priceOpen priceCurrent profit invested createdAt updatedAt }';
const EVENTS = `subscription { positionChanges {
  cursor snapshot upserted ${ROW} opened closed totals { count invested profit } status asOf
} }`;

const app = sharedApp({ POSITIONS_POLL_MS: '100', RATE_LIMIT_PER_MINUTE: '100000' });
let token: string;
beforeAll(() => {
  // This account has 25 positions.
  token = app.sandbox.token({ email: 'pro@example.com' });
});

interface Received {
  readonly isPacked: boolean;
  readonly wireBytes: number;
}

/** A socket that also records the bytes on the wire; each event is one frame. */
async function connect(options: ClientOptions = { perMessageDeflate: true }) {
  const raw = await openSocket(app, ['graphql-transport-ws'], options);
  const received: Received[] = [];
  raw.stream.on('data', (data: Buffer) => {
    // 0xc1 begins a compressed text frame.
    received.push({ isPacked: data[0] === 0xc1, wireBytes: data.length });
  });
  raw.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
  await eventually(() => expect(raw.messages).toHaveLength(1), raw.whileOpen);
  return { raw, received };
}

/** The events of one subscription on each of these sockets, while the market moves. */
async function eventsOf(sockets: readonly RawSocket[], count: number): Promise<object[][]> {
  for (const raw of sockets) raw.subscribe('1', EVENTS);
  const next = (raw: RawSocket) => raw.messagesOf('1').filter(({ type }) => type === 'next');
  for (let tick = 1; tick <= count; tick += 1) {
    await eventually(() => sockets.every((raw) => next(raw).length >= tick));
    app.sandbox.tick();
  }
  return sockets.map(next);
}

test('for clients that accept compression, events over four kilobytes are compressed to under a third of their bytes', async () => {
  const packed = await connect();
  const plain = await connect({ perMessageDeflate: false });
  const [first = [], second] = await eventsOf([packed.raw, plain.raw], 4);
  // Both sockets get the same content. They can begin at different versions of the feed, so two events are left out.
  expect(second).toEqual(expect.arrayContaining(first.slice(2)));
  const [small, large] = [packed, plain].map(({ received }) => received.at(-1) as Received);
  expect([small?.isPacked, large?.isPacked]).toEqual([true, false]);
  expect(large?.wireBytes).toBeGreaterThan(4_096);
  expect((small?.wireBytes ?? 0) / (large?.wireBytes ?? 0)).toBeLessThan(1 / 3);
  for (const { raw } of [packed, plain]) raw.socket.terminate();
});
