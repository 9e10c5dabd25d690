import type { Registry } from 'prom-client';
import { counter, gauge, gauges } from '../lib/metrics.ts';
import type { Catalogs } from './catalog/catalogs.ts';
import type { Feeds } from './feed/feeds.ts';
import type { PollSchedule } from './feed/poll-schedule.ts';

/** The services that are read at each scrape. */
interface Watched {
  readonly catalogs: Catalogs;
  readonly feeds: Feeds;
  readonly schedule: PollSchedule;
  readonly orders: { readonly oldestSeconds: number };
}

/** Null if there is nothing to measure. */
type Measure = (services: Watched) => number | null;

const GAUGES: readonly (readonly [name: string, help: string, measure: Measure])[] = [
  [
    'order_oldest_under_way_seconds',
    'Age of the oldest order without an outcome; 0 if there is none.',
    ({ orders }) => orders.oldestSeconds,
  ],
  [
    'stale_catalogs',
    'Catalogs that are served past their maximum age.',
    ({ catalogs }) => catalogs.figures.filter(({ isStale }) => isStale).length,
  ],
  [
    'catalog_left_seconds',
    'Time until the first catalog may no longer be served.',
    ({ catalogs: { figures } }) =>
      figures.length === 0 ? null : Math.min(...figures.map(({ leftSeconds }) => leftSeconds)),
  ],
  ['feeds', 'Accounts whose positions are polled.', ({ feeds }) => feeds.polled],
  ['feeds_delayed', 'Feeds whose last poll failed.', ({ feeds }) => feeds.delayed],
  [
    'feed_oldest_seconds',
    'Time since the gateway confirmed the oldest list in use; 0 if there is none.',
    ({ feeds }) => feeds.oldestSeconds,
  ],
  [
    'feed_poll_stretch',
    'Factor by which GATEWAY_POLLS_PER_SECOND lengthens all poll intervals.',
    ({ schedule }) => schedule.stretch,
  ],
  ['subscriptions', 'Live subscriptions.', ({ feeds }) => feeds.subscriptions],
];

const GAUGES_OF_GROUPS = [
  ['catalog_instruments', 'Instruments of each catalog in memory.', 'size'],
  ['catalog_offered_instruments', 'Instruments in the gateway’s last answer.', 'offered'],
  ['catalog_skipped', 'Broken instruments that were left out.', 'skipped'],
] as const;

/** The metrics of the business: orders, catalogs, live feeds, tokens. */
export class DomainMetrics {
  readonly orders;
  readonly doubts;
  readonly contradictions;
  readonly catalogFetches;
  readonly tokens;
  readonly signIns;
  #watched: Watched | null = null;

  constructor(registry: Registry) {
    this.orders = counter(
      registry,
      'orders_total',
      'Orders by outcome, without repeats. Expired: too late for their sendBefore. Unsent: refused before sending.',
      { outcome: ['accepted', 'rejected', 'unknown', 'expired', 'unsent'] },
    );
    this.doubts = counter(
      registry,
      'orders_doubted_total',
      'Answers by which an earlier request may have placed the order.',
    );
    this.contradictions = counter(
      registry,
      'orders_contradicted_total',
      'Answers of the gateway that contradict an outcome settled by an operator.',
    );
    this.catalogFetches = counter(
      registry,
      'catalog_fetches_total',
      'Fetches of a catalog; personal: a failure that concerns one token only.',
      { outcome: ['modified', 'unmodified', 'failed', 'personal'] },
    );
    this.tokens = counter(
      registry,
      'tokens_total',
      'Tokens that the gateway accepted for the first time or refused, and tokens refused here: without a usable login, for their key, issuer or audience, or for another reason.',
      { result: ['accepted', 'refused', 'login', 'key', 'other'] },
    );
    this.signIns = counter(registry, 'sign_ins_total', '`login` fields by outcome.', {
      outcome: ['granted', 'rejected', 'limited', 'failed'],
    });
    for (const [name, help, measure] of GAUGES) {
      gauge(registry, name, help, () => this.#watched && measure(this.#watched));
    }
    for (const [name, help, figure] of GAUGES_OF_GROUPS) {
      gauges(registry, name, help, ['group'], () =>
        (this.#watched?.catalogs.figures ?? []).map((each) => [each[figure], each.group]),
      );
    }
  }

  watch(services: Watched): void {
    this.#watched = services;
  }
}
