import type { Config } from '../config.ts';
import { ClientKeys } from '../domain/auth/client-key.ts';
import { Graph } from '../graph.ts';
import { systemClock } from '../lib/clock.ts';
import { FairScheduler } from '../lib/fair-scheduler.ts';
import { CostQuota } from '../plugins/cost/cost-quota.ts';
import { ErrorCodes } from '../plugins/errors/error-codes.ts';
import { requestCounter } from '../plugins/limits/use-request-limit.ts';
import { EventPace } from '../plugins/live/event-pace.ts';
import { ResponseCache } from '../plugins/response-cache/response-cache.ts';
import { PersistedTexts } from '../plugins/trusted-documents/use-trusted-documents.ts';
import { isFault } from '../schema/error-codes.ts';
import { publicCause, reasonOf } from '../schema/public-error.ts';
import { MessageBudgets } from '../server/receive/message-budgets.ts';
import { movePoint } from '../store/rate-counters.ts';
import type { StartOptions } from './app-options.ts';
import type { Resources } from './open-resources.ts';

const SUBSCRIPTIONS_PER_ACCOUNT = 256;
// The events of an account may contain as many fields in a minute as so many of the largest answers.
const EVENT_ANSWERS_PER_MINUTE = 5;

export type WiredGraph = ReturnType<typeof wireGraph>;

/** The graph with the caches and budgets of its plugins, which report how much they hold. */
export function wireGraph(
  config: Config,
  { log, schema, cacheBytes, connections: { unprovedPerAddress, clock }, plugins }: StartOptions,
  { domain, documents, trusted, stores: { counters }, metrics, memory, tracing }: Resources,
) {
  const clients = new ClientKeys(domain.ledger);
  const responses = new ResponseCache(cacheBytes.answers, metrics.graph.cacheReads.response);
  const registered = new PersistedTexts();
  const costs = new CostQuota({ counters, fieldsPerMinute: config.costLimitPerMinute });
  const pace = new EventPace({
    fieldsPerMinute: EVENT_ANSWERS_PER_MINUTE * config.maxCost,
    clock: systemClock,
  });
  const requests = requestCounter(counters, config.rateLimitPerMinute);
  const budgets = new MessageBudgets({
    ratePerMinute: config.rateLimitPerMinute,
    clients,
    clock,
    onOver: () => metrics.graph.refusal('messages'),
  });
  const graph = new Graph({
    schema,
    services: domain,
    clients: {
      clientOf: ({ caller }) => clients.of(caller),
      onProved(from, to) {
        movePoint(requests, from.key, to.key);
        budgets.move(from.key, to.key);
      },
    },
    requests,
    subscriptions: { perAccount: SUBSCRIPTIONS_PER_ACCOUNT, perAddress: unprovedPerAddress },
    trusted: { trusted, registered, trustedOnly: config.persistedDocumentsOnly, log },
    documents,
    maxCost: config.maxCost,
    costs,
    scheduler: new FairScheduler(),
    pace,
    responses,
    codes: new ErrorCodes({ describe: publicCause, reasonOf, log, metrics: metrics.graph }),
    traces: tracing && { schema, isFault },
    receipts: config.sandbox,
    plugins,
    isMemoryShort: () => memory.isShort,
  });
  return { graph, clients, responses, registered, costs, pace, budgets };
}
