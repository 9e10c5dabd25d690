import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { Engine } from '../engine/index.ts';
import type { Log } from '../lib/log.ts';

interface Running {
  readonly log: Log;
  readonly engine: Engine;
  readonly orders: { drain(): Promise<void> };
  /** Everything else, which is closed last. */
  readonly opened: AsyncDisposable;
}

export async function shutDown(
  { shutdownDelayMs, shutdownGraceMs }: Config,
  { log, engine: { pipeline, readiness, server }, orders, opened }: Running,
): Promise<void> {
  readiness.phase = 'draining';
  if (shutdownDelayMs > 0) await delay(shutdownDelayMs);
  const graceOver = runningTime(shutdownGraceMs).then(() => false);
  // An order outlives its request, so its outcome is recorded before the process ends.
  const drained = server.drain().then(() => orders.drain());
  const isDrained = await Promise.race([drained.then(() => true), graceOver]);
  if (!isDrained) log.warn({}, 'grace period elapsed; closing remaining connections');
  server.terminate();
  await Promise.race([pipeline.dispose(), graceOver]);
  await opened[Symbol.asyncDispose]();
}

const SLICE_MS = 500;

/**
 * Resolves once the process has run this long. A pause of the process does not count, so that answers that arrived during
 * the pause are still read and recorded.
 */
async function runningTime(ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= SLICE_MS) {
    await delay(Math.min(SLICE_MS, leftMs), null, { ref: false });
  }
}
