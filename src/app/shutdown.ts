import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { StartOptions } from './app-options.ts';
import type { Resources } from './open-resources.ts';
import type { WiredServer } from './wire-server.ts';

/** A function that stops accepting work, finishes in-flight requests and closes everything. */
export function createShutdown(
  { shutdownDelayMs: delayMs, shutdownGraceMs: graceMs }: Config,
  { log }: StartOptions,
  { orders }: Resources['domain'],
  { graph, readiness, server }: WiredServer,
  resources: AsyncDisposable,
): () => Promise<void> {
  async function drain(): Promise<void> {
    await server.drain();
    // An order outlives its request, so its outcome is recorded before the process ends.
    await orders.drain();
  }

  return async () => {
    readiness.phase = 'draining';
    if (delayMs > 0) await delay(delayMs);
    const graceOver = running(graceMs).then(() => false);
    const isDrained = await Promise.race([drain().then(() => true), graceOver]);
    if (!isDrained) log.warn({}, 'grace period elapsed; closing remaining connections');
    server.terminate();
    await Promise.race([graph.dispose(), graceOver]);
    await resources[Symbol.asyncDispose]();
  };
}

const SLICE_MS = 500;

/** Resolves once the process has run for so long: after a pause what came meanwhile is still to be read, and recorded. */
async function running(ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= SLICE_MS) {
    await delay(Math.min(SLICE_MS, leftMs), null, { ref: false });
  }
}
