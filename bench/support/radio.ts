import { connect, createServer } from 'node:net';
import { listenLocally } from '../../test/support/local-server.ts';

/** A phone's radio stays on for some ten seconds after the last packet, and wakes for the next one. */
const ON_AFTER_MS = 10_000;

/** Stands between a phone and the service, and notes when something passes, in either direction, the end of a connection too. */
export async function startRadio(target: string) {
  const { hostname, port } = new URL(target);
  let times: number[] = [];
  let bytes = 0;
  let since = performance.now();
  const note = () => void times.push(performance.now());
  const server = createServer((phone) => {
    note();
    const service = connect(Number(port), hostname);
    service.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    for (const [from, to] of [
      [phone, service],
      [service, phone],
    ] as const) {
      from.on('data', note).on('error', () => {});
      from.once('close', () => {
        note();
        to.destroy();
      });
      from.pipe(to);
    }
  });
  return {
    ...(await listenLocally(server)),
    /** The share of the time that it was on, and the bytes that came to the phone, since the last call of `reset`. */
    figures() {
      const now = performance.now();
      const onMs = times.map((at, index) => Math.min((times[index + 1] ?? now) - at, ON_AFTER_MS));
      return { onShare: onMs.reduce((sum, ms) => sum + ms, 0) / (now - since), bytes };
    },
    reset() {
      times = [];
      bytes = 0;
      since = performance.now();
    },
  };
}
