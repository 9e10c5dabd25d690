import type { Config } from '../config.ts';
import { Graph } from '../graph.ts';
import { systemClock } from '../lib/clock.ts';
import { FairScheduler } from '../lib/fair-scheduler.ts';
import { ErrorCodes } from '../plugins/errors/error-codes.ts';
import { createEventPace } from '../plugins/live/event-pace.ts';
import { ResponseCache } from '../plugins/response-cache/response-cache.ts';
import { PersistedTexts } from '../plugins/trusted-documents/use-trusted-documents.ts';
import type { StartOptions } from './app-options.ts';
import type { Resources } from './open-resources.ts';

export type WiredGraph = ReturnType<typeof wireGraph>;

/** The graph with the caches and budgets of its plugins, which report how much they hold. */
export function wireGraph(
  config: Config,
  { log, schema, cacheBytes, plugins }: StartOptions,
  { domain, documents, trusted, limiter, metrics, memory, tracing }: Resources,
) {
  const responses = new ResponseCache(cacheBytes.answers, metrics.graph.cacheReads.response);
  const registered = new PersistedTexts();
  const graph = new Graph({
    schema,
    services: domain,
    limiter,
    trusted: { trusted, registered, trustedOnly: config.persistedDocumentsOnly, log },
    documents,
    maxCost: config.maxCost,
    scheduler: new FairScheduler(),
    pace: createEventPace(limiter, systemClock),
    responses,
    codes: new ErrorCodes(log, metrics.graph),
    traces: tracing !== null,
    receipts: config.sandbox,
    plugins,
    isMemoryShort: () => memory.isShort,
  });
  return { graph, responses, registered };
}
