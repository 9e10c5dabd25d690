import { parentPort, workerData } from 'node:worker_threads';
import { machineClock } from './machine-clock.ts';
import { type OrderDatabase, openOrderDatabase } from './order-database.ts';
import type { Task } from './order-task.ts';

/** A batch's result, of which the first says that the thread is ready, or why it is not. */
export type FromThread =
  | ({ readonly kind: 'batch' } & ReturnType<OrderDatabase['run']>)
  | { readonly kind: 'refusal'; readonly reason: string }
  | { readonly kind: 'warning'; readonly warning: string }
  /** An account, or a token of it, has nearly its share. */
  | { readonly kind: 'nearly full' };

/** Tasks, and how far the gateway's clock is ahead; null: it ends. */
export type ToThread = { readonly tasks: readonly Task[]; readonly skewMs: number | null } | null;

/** The worker thread in which order records wait for the disk, so that no other request does. */
function serve(port: NonNullable<typeof parentPort>): void {
  const say = (message: FromThread) => port.postMessage(message);
  const onWarn = (warning: string) => say({ kind: 'warning', warning });
  const onNearlyFull = () => say({ kind: 'nearly full' });
  let skewMs: number | null = null;
  const clock = { ...machineClock, skewMs: () => skewMs };
  let database: OrderDatabase;
  try {
    database = openOrderDatabase({ ...workerData, clock, onWarn, onNearlyFull });
  } catch (error) {
    say({ kind: 'refusal', reason: error instanceof Error ? error.message : String(error) });
    port.close();
    return;
  }
  let cancelVerifying = () => {};
  const verifyAfter = (ms: number) => {
    const timer = setTimeout(() => verifyAfter(database.verifyOn()), ms);
    cancelVerifying = () => clearTimeout(timer);
  };
  port.on('message', (batch: ToThread) => {
    if (batch !== null) {
      ({ skewMs } = batch);
      say({ kind: 'batch', ...database.run(batch.tasks) });
    } else {
      cancelVerifying();
      database.close();
      port.close();
    }
  });
  say({ kind: 'batch', ...database.run([]) });
  verifyAfter(database.verifiesAfterMs);
}

if (parentPort) serve(parentPort);
