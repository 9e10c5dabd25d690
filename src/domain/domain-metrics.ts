import type { Registry } from '../lib/metrics/registry.ts';
import type { Catalogs } from './catalog/catalogs.ts';
import type { PollOutcome } from './feed/feed-options.ts';
import type { Feeds } from './feed/feeds.ts';

export type DomainMetrics = ReturnType<typeof createDomainMetrics>;

/** The services that are read at each scrape. */
interface Watched {
  readonly catalogs: Catalogs;
  readonly feeds: Feeds;
  readonly orders: { readonly underWay: number; readonly oldestSeconds: number };
}

/** Null where there is nothing to measure. */
type Measure = (services: Watched) => number | null;

const GAUGES: Readonly<Record<string, readonly [help: string, measure: Measure]>> = {
  orders_under_way: ['Orders without an outcome yet.', ({ orders }) => orders.underWay],
  order_oldest_under_way_seconds: [
    'Age of the oldest order without an outcome; 0: there is none.',
    ({ orders }) => orders.oldestSeconds,
  ],
  catalogs: ['Catalogs in memory.', ({ catalogs }) => catalogs.figures.length],
  stale_catalogs: [
    'Catalogs past their time.',
    ({ catalogs }) => catalogs.figures.filter(({ isStale }) => isStale).length,
  ],
  catalog_age_seconds: [
    'Age of the oldest catalog; 0: there is none.',
    ({ catalogs }) => Math.max(0, ...catalogs.figures.map(({ ageSeconds }) => ageSeconds)),
  ],
  catalog_left_seconds: [
    'Time until the first catalog may be served no longer.',
    ({ catalogs }) => {
      const left = catalogs.figures.map(({ leftSeconds }) => leftSeconds);
      return left.length === 0 ? null : Math.min(...left);
    },
  ],
  feeds: ['Accounts whose positions are polled.', ({ feeds }) => feeds.polled],
  feeds_delayed: ['Feeds whose last poll failed.', ({ feeds }) => feeds.delayed],
  feed_oldest_seconds: [
    'Time since the gateway confirmed the oldest list seen; 0: there is none.',
    ({ feeds }) => feeds.oldestSeconds,
  ],
  subscriptions: ['Live subscriptions.', ({ feeds }) => feeds.subscriptions],
  feed_polls_waiting: [
    'Polls that are due and wait for the ceiling.',
    ({ feeds }) => feeds.schedule.waiting,
  ],
  feed_poll_stretch: [
    'Factor by which GATEWAY_POLLS_PER_SECOND lengthens the intervals of all feeds.',
    ({ feeds }) => feeds.schedule.stretch,
  ],
};

const POLL_OUTCOMES = [
  'changed',
  'unchanged',
  'failed',
  'refused',
] as const satisfies PollOutcome['kind'][];

const GAUGES_OF_GROUPS = {
  size: ['catalog_instruments', 'Instruments of each catalog in memory.'],
  offered: ['catalog_offered_instruments', 'Instruments in the gateway’s last answer.'],
  skipped: ['catalog_skipped', 'Instruments that were left out as broken.'],
} as const;

/** The metrics of the business: orders, catalogs, sessions, live feeds, tokens. */
export function createDomainMetrics(registry: Registry) {
  let watched: Watched | null = null;
  const count = (name: string, help: string) => registry.counter(name, help).register();
  const counters = {
    orders: registry.counter(
      'orders_total',
      'Orders by outcome, repeats left aside; expired: later than their client meant them.',
      { outcome: ['accepted', 'rejected', 'unknown', 'expired', 'unsent'] },
    ),
    lateOrders: registry.counter(
      'orders_settled_late_total',
      'Orders counted as unknown whose answer came later, by what they became.',
      { outcome: ['accepted', 'rejected'] },
    ),
    numbersTwice: count(
      'order_numbers_told_twice_total',
      'Orders unknown because the gateway had told their number for another key.',
    ),
    doubts: registry.counter(
      'orders_doubted_total',
      'Answers that leave an order in doubt; unknown: it may have been carried out; earlier: an earlier request with its key may have been sent.',
      { told: ['unknown', 'earlier'] },
    ),
    contradictions: count(
      'orders_contradicted_total',
      'Answers of the gateway that contradict what an operator had settled before.',
    ),
    voids: count('order_keys_voided_total', 'Keys closed without an order.'),
    replays: count('order_replays_total', 'Orders answered from their record.'),
    catalogFetches: registry.counter(
      'catalog_fetches_total',
      'Fetches of a catalog; personal: a failure that concerns one token only.',
      { outcome: ['modified', 'unmodified', 'failed', 'personal'] },
    ),
    catalogReads: registry.counter(
      'catalog_reads_total',
      'Reads of a catalog: from memory, or waiting for the gateway.',
      { source: ['memory', 'wait'] },
    ),
    sessionReads: registry.counter('session_reads_total', 'Reads of a session snapshot.', {
      source: ['cache', 'shared', 'call'],
    }),
    events: {
      delivered: count('events_delivered_total', 'Events that live subscriptions have taken.'),
      merged: count('events_merged_total', 'Changes merged into other events.'),
    },
    tokens: registry.counter(
      'tokens_total',
      'Tokens that the gateway accepted for the first time or refused, and tokens refused here: without a usable login, for their key, issuer or audience, or for another reason.',
      { result: ['accepted', 'refused', 'login', 'key', 'other'] },
    ),
    signIns: registry.counter('sign_ins_total', 'Fields `login` by their end.', {
      outcome: ['granted', 'rejected', 'limited', 'failed'],
    }),
  };
  for (const [name, [help, measure]] of Object.entries(GAUGES)) {
    registry.gauge(name, help).from(() => watched && measure(watched));
  }
  for (const figure of Object.keys(GAUGES_OF_GROUPS) as (keyof typeof GAUGES_OF_GROUPS)[]) {
    const [name, help] = GAUGES_OF_GROUPS[figure];
    registry.gauge(name, help, 'group').fromEach(() => {
      const groups = watched?.catalogs.figures ?? [];
      return groups.map(({ group, [figure]: value }) => [value, group] as const);
    });
  }
  const polls = registry.counter('feed_polls_total', 'Polls of live feeds by outcome.', {
    outcome: POLL_OUTCOMES,
  });
  return {
    ...counters,
    polls,
    watch(services: Watched): void {
      watched = services;
    },
  };
}
