/** A process that sends what a known sender does to a port, until it is told to end. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { KNOWN_SENDERS } from './known-senders.ts';

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
const WRITE_BYTES = 65_536;

const report = { sentBytes: 0, opened: 0, closed: 0 };
let isOver = false;

process.on('message', (message: { readonly name?: string; readonly port?: number }) => {
  const sender = KNOWN_SENDERS[message.name ?? ''];
  isOver = sender === undefined;
  process.send?.({ answer: report });
  if (sender === undefined) return;
  const upgrade = Buffer.from(sender.transport === 'websocket' ? UPGRADE : '');
  const first = Buffer.concat([upgrade, sender.first()]);
  const repeated = sender.repeated();
  for (let at = 0; at < sender.connections; at += 1) {
    void keepSending(message.port ?? 0, first, repeated);
  }
});
// The probe lets its process end where nothing else keeps it.
process.channel?.ref();

/** Opens another connection for one that is closed. */
async function keepSending(port: number, first: Buffer, repeated: Buffer): Promise<void> {
  while (!isOver) {
    await sendOn(port, first, repeated);
    await delay(RETURNS_AFTER_MS);
  }
}

/** Resolves when the connection is closed. */
function sendOn(port: number, first: Buffer, repeated: Buffer): Promise<void> {
  // An address of its own, which the bystanders do not share.
  const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.1.1', noDelay: true });
  report.opened += 1;
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
    for (let at = 0; at < bytes.length && !socket.destroyed; at += WRITE_BYTES) {
      const part = bytes.subarray(at, at + WRITE_BYTES);
      report.sentBytes += part.length;
      const isTaken = socket.write(part);
      const drained = isTaken ? setImmediate : (taken: () => void) => socket.once('drain', taken);
      await Promise.race([new Promise<void>((taken) => void drained(taken)), closed]);
    }
  }
  return closed;
}
