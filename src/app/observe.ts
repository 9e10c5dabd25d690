import type { Config } from '../config.ts';
import type { StartOptions } from './app-options.ts';
import type { Resources } from './open-resources.ts';
import type { WiredServer } from './wire-server.ts';

/** Gives the gauges their sources. */
export function watchGauges(
  config: Config,
  { logOutput }: StartOptions,
  resources: Resources,
  { server, webSockets, openConnections, readiness, responses }: WiredServer,
): void {
  const { metrics, domain, documents, trusted, limiter, memory } = resources;
  const { records, replicas } = resources.stores;
  metrics.server.connections.from(() => openConnections.count, 'open');
  metrics.server.connections.from(() => server.maxConnections, 'max');
  metrics.server.sockets.from(() => webSockets.size);
  metrics.server.sendBufferBytes.from(() => openConnections.unread);
  metrics.server.receiveBufferBytes.from(() => openConnections.unfinished);
  const caches = {
    ...domain.caches,
    response: () => responses.byteSize,
    document: () => documents.byteSize,
    compiled_code: () => documents.executors.byteSize,
    quota: () => limiter.byteSize,
  };
  for (const [name, byteSize] of Object.entries(caches)) {
    metrics.graph.cacheBytes.from(byteSize, name);
  }
  metrics.store.records.held.from(() => records.status.held);
  metrics.store.records.max.from(() => config.orderRecordsMax);
  if (replicas !== null) metrics.store.redisUp.from(() => (replicas.isUp() ? 1 : 0));
  metrics.graph.manifestUnreadable.from(() => (trusted?.isUnreadable ? 1 : 0));
  metrics.memoryHeldShare.from(() => memory.heldShare);
  if (logOutput) metrics.logLinesDropped.from(() => logOutput.droppedLines);
  metrics.showReadiness(readiness);
}
