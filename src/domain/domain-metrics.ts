import { OPERATION_NAMES, OPERATIONS } from '../gateway/operations.ts';
import type { Registry } from '../lib/metrics/registry.ts';
import type { Refuser, TokenRefusals } from './auth/token-refusals.ts';
import type { Catalogs } from './catalog/catalogs.ts';
import type { HubStats, PositionsHub } from './positions/hub.ts';
import type { Orders } from './trading/orders.ts';

interface Watched {
  readonly catalogs: Catalogs;
  readonly hub: PositionsHub;
  readonly orders: Orders;
  readonly tokenRefusals: TokenRefusals;
}

const REFUSERS: readonly Refuser[] = [
  ...OPERATION_NAMES.filter((name) => !OPERATIONS[name].isAnonymous),
  'verification',
];
const POLL_OUTCOMES = ['changed', 'unchanged', 'failed', 'refused'] as const;

/** The metrics of the business: orders, catalogs, sessions, live feeds, tokens. */
export class DomainMetrics {
  readonly orders;
  readonly voids;
  readonly replays;
  readonly catalogFetches;
  readonly catalogReads;
  readonly sessionReads;
  readonly events;
  readonly tokens;
  readonly signIns;
  readonly #gauges;

  constructor(registry: Registry) {
    this.orders = registry.counter(
      'orders_total',
      'Orders by outcome, repeats left aside; expired: later than their client meant them.',
      { outcome: ['accepted', 'rejected', 'unknown', 'expired', 'unsent'] },
    );
    this.voids = registry
      .counter('order_keys_voided_total', 'Keys that were closed before an order had them.')
      .register();
    this.replays = registry
      .counter('order_replays_total', 'Orders answered by the outcome of an earlier request.')
      .register();
    this.catalogFetches = registry.counter(
      'catalog_fetches_total',
      'Fetches of a catalog; personal: a failure that concerns one token only.',
      { outcome: ['modified', 'unmodified', 'failed', 'personal'] },
    );
    this.catalogReads = registry.counter(
      'catalog_reads_total',
      'Reads of a catalog: from memory, or waiting for the gateway.',
      { source: ['memory', 'wait'] },
    );
    this.sessionReads = registry.counter('session_reads_total', 'Reads of a session snapshot.', {
      source: ['cache', 'shared', 'call'],
    });
    this.events = {
      delivered: registry
        .counter('events_delivered_total', 'Events that live subscriptions have taken.')
        .register(),
      merged: registry
        .counter('events_merged_total', 'Changes that had no event of their own: it was merged.')
        .register(),
    };
    this.tokens = registry.counter(
      'tokens_total',
      'Tokens judged, by the gateway (accepted: for the first time; refused) or refused here already: without a usable login, for their key, issuer or audience, or for another reason; refused_by_clock: here or there, for a time that is over or has not come by less than the two clocks differ.',
      { result: ['accepted', 'refused', 'login', 'key', 'other', 'refused_by_clock'] },
    );
    this.signIns = registry.counter('sign_ins_total', 'Fields `login` by their end.', {
      outcome: ['granted', 'rejected', 'limited', 'failed'],
    });
    this.#gauges = {
      tokenAccounts: registry.gauge(
        'token_accounts',
        'Accounts by the last call of each within the minute, by operation and by the check of the signature here (verification); refused: for a token that the gateway had accepted before, or that `login` had just returned. No others are refused.',
        'operation',
        'verdict',
      ),
      underWay: registry.gauge('orders_under_way', 'Orders without an outcome yet.'),
      oldestOrder: registry.gauge(
        'order_oldest_under_way_seconds',
        'Age of the oldest order without an outcome; 0: there is none.',
      ),
      catalogs: registry.gauge('catalogs', 'Catalogs in memory.'),
      stale: registry.gauge('stale_catalogs', 'Catalogs past their time.'),
      age: registry.gauge('catalog_age_seconds', 'Age of the oldest catalog; 0: there is none.'),
      left: registry.gauge(
        'catalog_left_seconds',
        'Time until the first catalog may be served no longer, as while the gateway fails.',
      ),
      instruments: registry.gauge(
        'catalog_instruments',
        'Instruments of each catalog in memory, 100 groups at most.',
        'group',
      ),
      offered: registry.gauge(
        'catalog_offered_instruments',
        'Instruments in the gateway’s last answer; with less than half of the catalog’s it is kept out for a time.',
        'group',
      ),
      skipped: registry.gauge(
        'catalog_skipped',
        'Instruments that were left out as broken.',
        'group',
      ),
      unknownValues: registry.gauge(
        'catalog_unknown_values',
        'Values of instruments that are null because an enum here lacks them.',
      ),
      feeds: registry.gauge('feeds', 'Accounts that are polled.'),
      delayed: registry.gauge('feeds_delayed', 'Feeds whose last poll failed.'),
      oldestList: registry.gauge(
        'feed_oldest_seconds',
        'Time since the gateway confirmed the oldest list that subscribers see; 0: there is none.',
      ),
      subscriptions: registry.gauge('subscriptions', 'Live subscriptions.'),
      polls: registry.tally('feed_polls_total', 'Polls of live feeds by outcome.', 'outcome'),
      waiting: registry.gauge('feed_polls_waiting', 'Polls that are due and wait for the ceiling.'),
      stretch: registry.gauge(
        'feed_poll_stretch',
        'Factor by which GATEWAY_POLLS_PER_SECOND lengthens the intervals of all feeds.',
      ),
    };
  }

  watch({ catalogs, hub, orders, tokenRefusals }: Watched): void {
    const gauges = this.#gauges;
    for (const refuser of REFUSERS) {
      const accounts = onceATurn(() => tokenRefusals.accounts(refuser));
      gauges.tokenAccounts.from(() => accounts().accepted, refuser, 'accepted');
      gauges.tokenAccounts.from(() => accounts().refused, refuser, 'refused');
    }
    gauges.underWay.from(() => orders.underWay);
    gauges.oldestOrder.from(() => orders.oldestSeconds);
    gauges.catalogs.from(() => catalogs.stats().count);
    gauges.stale.from(() => catalogs.staleGroups.length);
    gauges.age.from(() => catalogs.stats().ageSeconds);
    gauges.left.from(() => catalogs.stats().leftSeconds);
    const ofEach = (name: 'size' | 'offered' | 'skipped') => () =>
      catalogs.figures.map(({ group, [name]: value }) => [value, group] as const);
    gauges.instruments.fromEach(ofEach('size'));
    gauges.offered.fromEach(ofEach('offered'));
    gauges.skipped.fromEach(ofEach('skipped'));
    const hubStats = onceATurn(() => hub.stats());
    const stat = (name: keyof Omit<HubStats, 'polls'>) => () => hubStats()[name];
    gauges.unknownValues.from(() => catalogs.stats().unknownValues);
    gauges.feeds.from(stat('feeds'));
    gauges.delayed.from(stat('delayed'));
    gauges.oldestList.from(stat('oldestSeconds'));
    gauges.subscriptions.from(stat('subscriptions'));
    gauges.waiting.from(stat('waitingPolls'));
    gauges.stretch.from(stat('stretch'));
    for (const outcome of POLL_OUTCOMES) {
      gauges.polls.from(() => hubStats().polls[outcome], outcome);
    }
  }
}

/** Keeps what `read` returned for the rest of the turn: the gauges of one scrape need not walk over all feeds each. */
function onceATurn<T>(read: () => T): () => T {
  let latest: { readonly value: T } | null = null;
  return () => {
    if (latest === null) {
      latest = { value: read() };
      setImmediate(() => {
        latest = null;
      });
    }
    return latest.value;
  };
}
