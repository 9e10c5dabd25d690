/** A process that sends what a known sender does to a port, until it is told to end. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { UPGRADE } from '../../../test/support/websocket-frames.ts';
import { KNOWN_SENDERS, type Sender } from './known-senders.ts';

interface Sending extends Pick<Sender, 'everyMs' | 'staysMs' | 'returnsAfterMs' | 'repeated'> {
  readonly port: number;
  readonly localAddress: string;
  readonly first: Buffer;
}

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
  // What is not paced is made once.
  const made = sender.everyMs === undefined ? sender.repeated() : null;
  const repeated = () => made ?? sender.repeated();
  for (let at = 0; at < sender.connections; at += 1) {
    // Addresses that the bystanders do not have; the newcomers share the first.
    const localAddress = `127.0.1.${1 + (at % (sender.addresses ?? 1))}`;
    void keepSending({ ...sender, port: message.port ?? 0, localAddress, first, repeated });
  }
});
// The probe lets its process end where nothing else keeps it.
process.channel?.ref();

/** Opens another connection for one that is closed. */
async function keepSending(sending: Sending): Promise<void> {
  while (!isOver) {
    await sendOn(sending);
    await delay(sending.returnsAfterMs ?? RETURNS_AFTER_MS);
  }
}

/** Resolves when the connection is closed. */
function sendOn({ port, localAddress, first, repeated, everyMs, staysMs }: Sending): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
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
    if (staysMs !== undefined) setTimeout(() => socket.destroy(), staysMs);
    for (let next = repeated(); next.length > 0 && !socket.destroyed; next = repeated()) {
      await write(next);
      if (everyMs !== undefined) await delay(everyMs);
    }
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
