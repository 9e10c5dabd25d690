import { setTimeout as delay } from 'node:timers/promises';
import type { Orders } from '../domain/trading/orders.ts';
import { steadyClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { OpenPlugins } from '../plugins/others/open-plugins.ts';
import type { Readiness } from '../server/admin/readiness.ts';
import { closeInSlices } from '../server/closing-in-slices.ts';
import type { HttpServer } from '../server/http/http-server.ts';
import type { WebSocketEndpoint } from '../server/websocket/websocket-endpoint.ts';

interface ShutdownOptions {
  /** How long the service goes on accepting requests, for balancers to notice that it is not ready. */
  readonly delayMs: number;
  /** How long requests in flight may take after that. */
  readonly graceMs: number;
  readonly readiness: Readiness;
  readonly webSockets: WebSocketEndpoint;
  readonly server: HttpServer;
  readonly orders: Orders;
  readonly plugins: OpenPlugins;
  readonly resources: AsyncDisposable;
  readonly log: Log;
}

/** A function that stops accepting work, finishes in-flight requests and closes everything. */
export function createShutdown({
  delayMs,
  graceMs,
  readiness,
  webSockets,
  server,
  orders,
  plugins,
  resources,
  log,
}: ShutdownOptions): () => Promise<void> {
  const lasting = [webSockets.lasting, server.eventStreams];

  async function drain(closeOverMs: number): Promise<void> {
    await Promise.all([
      webSockets.drain(),
      server.drain(),
      closeInSlices(lasting, { clock: steadyClock, overMs: closeOverMs, endsEarly: true }),
    ]);
    // An order outlives its request, so its outcome is recorded before the process ends.
    await orders.drain();
  }

  return async () => {
    readiness.draining();
    if (delayMs > 0) {
      await closeInSlices(lasting, { clock: steadyClock, overMs: delayMs, endsEarly: false });
    }
    const graceOver = delay(graceMs, false, { ref: false });
    const isDrained = await Promise.race([
      drain(delayMs > 0 ? 0 : graceMs / 2).then(() => true),
      graceOver,
    ]);
    if (!isDrained) log.warn({}, 'the time to drain is over; what is left is cut off');
    webSockets.terminate();
    server.terminate();
    await Promise.race([plugins.dispose(), graceOver]);
    await resources[Symbol.asyncDispose]();
  };
}
