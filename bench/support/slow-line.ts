import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { listenLocally } from '../../test/support/local-server.ts';

export interface SlowLineOptions {
  readonly roundTripMs: number;
  /** Of each direction, which all connections share. */
  readonly bytesPerMs: number;
}

/** A line of a phone, all of whose connections cost a round trip before their first byte. */
export async function startSlowLine(target: string, { roundTripMs, bytesPerMs }: SlowLineOptions) {
  const { hostname, port } = new URL(target);
  const [up, down] = [{ freeAtMs: 0 }, { freeAtMs: 0 }];
  const server = createServer((phone) => {
    const openAtMs = performance.now() + roundTripMs;
    const service = connect(Number(port), hostname);
    carry(phone, service, up, openAtMs);
    carry(service, phone, down, openAtMs);
  });
  return listenLocally(server);

  function carry(from: Socket, to: Socket, direction: { freeAtMs: number }, openAtMs: number) {
    let carried = Promise.resolve();
    const then = (task: () => void, dueMs: number) => {
      carried = carried.then(() => delay(Math.max(0, dueMs - performance.now()))).then(task);
    };
    from.on('data', (chunk: Buffer) => {
      const startMs = Math.max(performance.now(), openAtMs, direction.freeAtMs);
      direction.freeAtMs = startMs + chunk.length / bytesPerMs;
      then(() => to.write(chunk), direction.freeAtMs + roundTripMs / 2);
    });
    from.on('error', () => {});
    from.once('close', () => then(() => to.destroy(), 0));
  }
}
