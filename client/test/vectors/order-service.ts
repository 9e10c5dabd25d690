import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../lib/clock.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startFacadeProcess } from '../../../test/support/facade-process.ts';

/** Shorter than a client's ten seconds of patience, so that the service says what it does not know. */
const ORDER_TIMEOUT_MS = 400;
/** The time after which the service's records reach back to a first key, whose age is not known to the second. */
const RECORDS_REACH_MS = 6_500;

export type OrderService = Awaited<ReturnType<typeof startOrderService>>;

/** The program with its sandbox gateway, once its records reach back to the first key. */
export async function startOrderService() {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'client-orders-')));
  const sandbox = parts.use(await startSandbox({ seed: 'orders', instruments: 40, tickMs: 0 }));
  const facade = parts.use(
    await startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      ORDER_STORE: join(folder.path, 'orders.db'),
      ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS),
      RATE_LIMIT_PER_MINUTE: '10000000',
      LOG_LEVEL: 'info',
    }),
  );
  const startedMs = systemClock.now();
  await eventually(() => systemClock.now() - startedMs > RECORDS_REACH_MS);
  const all = parts.move();
  return { sandbox, facade, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Rewrites the dates in a request of a client with another clock to the service's. */
export function redated(text: string, realDate: (scriptedMs: number) => Date): string {
  return text.replace(
    /"(sendBefore|since|keyMade)":"([^"]+)"/g,
    (_, name, date) => `"${name}":"${realDate(Date.parse(date)).toISOString()}"`,
  );
}
