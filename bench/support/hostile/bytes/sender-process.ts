/** A process that sends what a sender says to a port, until it is told to end. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOf, type Sender } from './sender.ts';

export interface SenderOrder {
  readonly sender: Sender;
  readonly port: number;
  /** The next to last part of the addresses that it sends from. */
  readonly network: number;
}

export interface SenderReport {
  readonly sentBytes: number;
  readonly opened: number;
  readonly closed: number;
}

const UPGRADE = [
  'GET /graphql HTTP/1.1',
  'host: a',
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol: graphql-transport-ws',
  '\r\n',
].join('\r\n');
const RETURNS_AFTER_MS = 10;

const report = { sentBytes: 0, opened: 0, closed: 0 };
let isOver = false;

process.on('message', (message: SenderOrder | { readonly isOver: true }) => {
  if ('isOver' in message) {
    isOver = true;
    process.send?.({ answer: report });
    return;
  }
  const { sender } = message;
  const first = Buffer.concat([
    Buffer.from(sender.transport === 'websocket' ? UPGRADE : ''),
    bytesOf(sender.first),
  ]);
  const repeated = bytesOf(sender.repeated);
  for (let at = 0; at < sender.connections; at += 1) void keepSending(message, first, repeated);
  process.send?.({ answer: null });
});
// The probe lets its process end where nothing else keeps it.
process.channel?.ref();
process.on('disconnect', () => process.exit());

async function keepSending(order: SenderOrder, first: Buffer, repeated: Buffer): Promise<void> {
  do {
    await sendOn(order, first, repeated);
    await delay(RETURNS_AFTER_MS);
  } while (order.sender.returns && !isOver);
}

/** Resolves when the connection is closed. */
function sendOn(
  { sender, port, network }: SenderOrder,
  first: Buffer,
  repeated: Buffer,
): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.${network}.1` });
  report.opened += 1;
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.resume();
  const closed = new Promise<void>((resolve) =>
    socket.once('close', () => {
      report.closed += 1;
      resolve();
    }),
  );
  socket.once('connect', async () => {
    await write(first);
    while (repeated.length > 0 && !socket.destroyed) await write(repeated);
  });

  async function write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length && !socket.destroyed; at += sender.writeBytes) {
      const part = bytes.subarray(at, at + sender.writeBytes);
      report.sentBytes += part.length;
      const isTaken = socket.write(part);
      if (!isTaken)
        await Promise.race([new Promise((taken) => socket.once('drain', taken)), closed]);
      else if (sender.pauseMs === 0) await new Promise((next) => setImmediate(next));
      if (sender.pauseMs > 0) await delay(sender.pauseMs);
    }
  }
  return closed;
}
