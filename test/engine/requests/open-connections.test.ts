import { expect, test } from 'vitest';
import { openRaw } from '../../end-to-end/chaos/raw-connection.ts';
import { MEGABYTE, unreadBytes } from '../../end-to-end/limits/slow-reader.ts';
import { initializedSocket, openSocket } from '../../end-to-end/live/raw-socket.ts';
import { seriesValue } from '../../end-to-end/operations/scraped.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { frame, OPCODES, PACKED, packed } from '../../support/websocket-frames.ts';

const NEVER_MS = 86_400_000;
const unfinishedBytes = (app: TestApp) => seriesValue(app, 'receive_buffer_bytes');
const cuts = (app: TestApp) => seriesValue(app, 'connections_cut_total{reason="bytes"}');

/** A frame that announces 200,000 bytes, but contains only this many bytes. */
const begun = (bytes: number) =>
  frame(OPCODES.text, Buffer.alloc(bytes, ' '), { announced: 200_000 });

test('an unfinished message counts with the size of the read that it arrived in, and with its unpacked size', async () => {
  await using app = await startTestApp({}, { connections: { pingMs: NEVER_MS } });
  using plain = await initializedSocket(app);
  const ping = frame(OPCODES.text, Buffer.from('{"type":"ping"}'.padEnd(30_000)));
  // The read of 30,000 bytes stays in memory for the hundred bytes at its end.
  plain.stream.write(Buffer.concat([ping, begun(100)]));
  await eventually(() => plain.messages.some(({ type }) => type === 'pong'));
  expect(await unfinishedBytes(app)).toBeGreaterThan(20_000);
  plain.socket.terminate();
  await eventually(async () => expect(await unfinishedBytes(app)).toBe(0));
  using small = await openSocket(app, ['graphql-transport-ws'], { perMessageDeflate: true });
  const bomb = { rsv: PACKED, isLast: false };
  small.stream.write(frame(OPCODES.text, packed(' '.repeat(200_000)), bomb));
  await eventually(async () => expect(await unfinishedBytes(app)).toBeGreaterThanOrEqual(200_000));
  small.stream.write(frame(OPCODES.continuation, Buffer.from([0])));
  await small.untilClosed();
  await eventually(async () => expect(await unfinishedBytes(app)).toBe(0));
});

test('if all connections together hold too many bytes, the largest are closed and the others continue', async () => {
  const connections = { heldBytes: MEGABYTE, pingMs: NEVER_MS };
  await using app = await startTestApp({}, { connections });
  using calm = await initializedSocket(app);
  calm.stream.write(begun(10_000));
  // Six sockets and a request hold 1.4 MB together.
  const large = await Promise.all(Array.from({ length: 6 }, () => initializedSocket(app)));
  for (const { stream } of large) stream.write(begun(190_000));
  using body = await openRaw(app.url);
  const head = 'POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
  body.socket.write(`${head}content-length: 250000\r\n\r\n${' '.repeat(240_000)}`);
  await eventually(() => body.isClosed);
  await eventually(async () => expect(await cuts(app)).toBeGreaterThanOrEqual(2));
  expect((await unfinishedBytes(app)) + (await unreadBytes(app))).toBeLessThanOrEqual(MEGABYTE);
  expect(large.some(({ closed }) => closed === null)).toBe(true);
  // The calm socket completes its message, and is closed only because blanks are no valid message.
  calm.stream.write(Buffer.alloc(190_000, ' '));
  expect(await calm.untilClosed()).toMatchObject({ code: 4400 });
  expect((await app.query('{ __typename }')).errors).toEqual([]);
  for (const raw of large) raw.socket.terminate();
});
