import { constants, deflateRawSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ClientOptions } from 'ws';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { frame, OPCODES, PACKED } from '../../support/websocket-frames.ts';
import { openSocket, type RawSocket } from './raw-socket.ts';

const ROW =
  '{ id symbol name side units priceOpen priceCurrent profit invested createdAt updatedAt }';
const EVENTS = `subscription { positionChanges {
  cursor snapshot upserted ${ROW} opened closed totals { count invested profit } status asOf
} }`;

const app = sharedApp({ POSITIONS_POLL_MS: '100', RATE_LIMIT_PER_MINUTE: '100000' });
let token: string;

beforeAll(() => {
  // An account of 25 positions.
  token = app.sandbox.token({ email: 'pro@example.com' });
});

interface Received {
  readonly isPacked: boolean;
  readonly wireBytes: number;
}

/** A socket that also sees what comes over the wire; each event comes as one frame. */
async function connect(options: ClientOptions = { perMessageDeflate: true }) {
  const raw = await openSocket(app, ['graphql-transport-ws'], options);
  const received: Received[] = [];
  raw.stream.on('data', (data: Buffer) => {
    received.push({ isPacked: data[0] === 0xc1, wireBytes: data.length });
  });
  raw.say({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
  await eventually(() => expect(raw.messages).toHaveLength(1), raw.whileOpen);
  return { raw, received };
}

/** The events of one subscription on each of these sockets, while the market moves. */
async function eventsOf(sockets: readonly RawSocket[], count: number): Promise<object[][]> {
  for (const raw of sockets) raw.subscribe('1', EVENTS);
  const next = (raw: RawSocket) => raw.of('1').filter(({ type }) => type === 'next');
  for (let tick = 1; tick <= count; tick += 1) {
    await eventually(() => sockets.every((raw) => next(raw).length >= tick));
    app.sandbox.tick();
  }
  return sockets.map(next);
}

test('events over four kilobytes are sent packed to those who take it, in a third of the bytes, and say the same', async () => {
  const packed = await connect();
  const plain = await connect({ perMessageDeflate: false });
  const [first = [], second] = await eventsOf([packed.raw, plain.raw], 4);
  // They may have begun at different versions of the feed.
  expect(second).toEqual(expect.arrayContaining(first.slice(2)));
  const [small, large] = [packed, plain].map(({ received }) => received.at(-1) as Received);
  expect([small?.isPacked, large?.isPacked]).toEqual([true, false]);
  expect(large?.wireBytes).toBeGreaterThan(4_096);
  expect((small?.wireBytes ?? 0) / (large?.wireBytes ?? 0)).toBeLessThan(1 / 3);
  for (const { raw } of [packed, plain]) raw.socket.terminate();
});

describe('packed messages of a client', () => {
  const pack = (text: string) =>
    deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
  const packedFrame = (payload: Buffer, isLast = true) =>
    frame(OPCODES.text, payload, { rsv: PACKED, isLast });
  const sayPacked = (raw: RawSocket, text: string) => raw.stream.write(packedFrame(pack(text)));
  const pongs = ({ messages }: RawSocket) => messages.filter(({ type }) => type === 'pong').length;

  test('are unpacked each by itself, in fragments, and thousands at a time', async () => {
    const { raw } = await connect();
    const query = `{ customerId } #${'comment '.repeat(200)}`;
    for (const id of ['1', '2', '3']) {
      sayPacked(raw, JSON.stringify({ id, type: 'subscribe', payload: { query } }));
    }
    for (const id of ['1', '2', '3']) {
      expect((await raw.until(id, 'next')).payload.data).toEqual({ customerId: 'cus_700002' });
    }
    const packed = pack('{"type":"ping","payload":{"text":"Привет, 世界 🐟"}}');
    const count = 2_000;
    const twice = Buffer.concat([
      packedFrame(packed.subarray(0, 9), false),
      frame(OPCODES.continuation, packed.subarray(9, 10), { isLast: false }),
      frame(OPCODES.continuation, packed.subarray(10)),
      packedFrame(packed),
    ]);
    raw.stream.write(Buffer.concat(Array(count).fill(twice)));
    await eventually(() => expect(pongs(raw)).toBe(2 * count));
    expect(raw.messages.at(-1)?.payload).toEqual({ text: 'Привет, 世界 🐟' });
    raw.socket.terminate();
  });

  test('close the socket where a few bytes unpack to many, or to none', async () => {
    const [large, broken] = [await connect(), await connect()];
    // More than a body may have.
    sayPacked(large.raw, `{"type":"ping"}${' '.repeat(50_000_000)}`);
    expect(await large.raw.close()).toMatchObject({ code: 1009 });
    broken.raw.stream.write(packedFrame(Buffer.from('no deflate')));
    expect(await broken.raw.close()).toMatchObject({ code: 1007 });
  });
});
