import type { Config } from '../config.ts';
import { steadyClock } from '../lib/clock.ts';
import { FillForecast } from '../store/fill-forecast.ts';
import type { StartOptions } from './app-options.ts';
import type { Resources } from './open-resources.ts';
import type { WiredGraph } from './wire-graph.ts';
import type { WiredServer } from './wire-server.ts';

/** Says what makes the service degraded. */
export function watchReadiness(
  { stores, trusted, wrongSettings, gateway, memory, domain }: Resources,
  { readiness }: WiredServer,
): void {
  readiness.watch('order-store', () => stores.records.degradedReason());
  readiness.watch('redis', () => stores.limits?.degradedReason() ?? null);
  readiness.watch('documents', () => trusted?.degradedReason() ?? null);
  readiness.watch('settings', () => wrongSettings.degradedReason());
  readiness.watch('slow', () => gateway.slowOperations.degradedReason());
  readiness.watch('clock', () => gateway.clockSkew.degradedReason());
  readiness.watch('tokens', () => domain.tokenRefusals.degradedReason());
  readiness.watch('gateway', () => gateway.degradedReason());
  readiness.watch('memory', () => memory.degradedReason());
  readiness.watch('catalog', () => domain.catalogs.degradedReason());
}

/** Gives the gauges their sources. */
export function watchGauges(
  config: Config,
  { logOutput }: StartOptions,
  { metrics, domain, documents, stores, limiter, fullest, memory }: Resources,
  { responses, registered }: WiredGraph,
  { webSockets, buffers, received, readiness }: WiredServer,
): void {
  const { records, redisIsUp } = stores;
  metrics.server.listClients(config.clientNames);
  metrics.server.sockets.from(() => webSockets.size);
  metrics.server.sendBufferBytes.from(() => buffers.bytes);
  metrics.server.receiveBufferBytes.from(() => received.bytes);
  const caches = {
    ...domain.caches,
    response: () => responses.byteSize,
    document: () => documents.byteSize,
    compiled_code: () => documents.compiledCode.byteSize,
    persisted_query: () => registered.byteSize,
    quota: () => limiter.byteSize,
  };
  for (const [name, byteSize] of Object.entries(caches)) {
    metrics.graph.cacheBytes.from(byteSize, name);
  }
  metrics.store.watch({
    records,
    fullest,
    forecast: new FillForecast(steadyClock, config.orderRecordsMax),
    max: config.orderRecordsMax,
    maxPerAccount: config.orderRecordsPerAccount,
  });
  if (redisIsUp !== null) metrics.store.redisUp.from(() => (redisIsUp() ? 1 : 0));
  metrics.memoryHeldShare.from(() => memory.heldShare);
  metrics.logLinesDropped.from(() => logOutput?.droppedLines ?? 0);
  metrics.showReadiness(readiness);
}
