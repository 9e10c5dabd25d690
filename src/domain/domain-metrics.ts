import type { Registry } from '../../lib/metrics/registry.ts';
import { OPERATION_NAMES, OPERATIONS } from '../gateway/operations.ts';
import type { ListAgreement } from './account/list-agreement.ts';
import type { Refuser, TokenRefusals } from './auth/token-refusals.ts';
import type { Catalogs } from './catalog/catalogs.ts';
import type { HubStats, PositionsHub } from './positions/hub.ts';
import type { Orders } from './trading/orders.ts';

interface Watched {
  readonly catalogs: Catalogs;
  readonly hub: PositionsHub;
  readonly orders: Orders;
  readonly lists: ListAgreement;
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
  readonly lateOrders;
  readonly numbersTwice;
  readonly voids;
  readonly replays;
  readonly catalogFetches;
  readonly catalogReads;
  readonly sessionReads;
  readonly events;
  readonly tokens;
  readonly signIns;
  #watched: Watched | null = null;

  constructor(registry: Registry) {
    this.orders = registry.counter(
      'orders_total',
      'Orders by outcome, repeats left aside; expired: later than their client meant them.',
      { outcome: ['accepted', 'rejected', 'unknown', 'expired', 'unsent'] },
    );
    this.lateOrders = registry.counter(
      'orders_settled_late_total',
      'Orders counted as unknown whose answer came later, by what they became.',
      { outcome: ['accepted', 'rejected'] },
    );
    this.numbersTwice = registry
      .counter(
        'order_numbers_told_twice_total',
        'Orders that are unknown because the gateway had told their number for another key of the account.',
      )
      .register();
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
    const tokenAccounts = registry.gauge(
      'token_accounts',
      'Accounts by the last call of each within the minute, by operation and by the check of the signature here (verification); refused: for a token that the gateway had accepted before, or that `login` had just returned. No others are refused.',
      'operation',
      'verdict',
    );
    for (const refuser of REFUSERS) {
      const accounts = onceATurn(() => this.#watched?.tokenRefusals.accounts(refuser));
      tokenAccounts.from(() => accounts()?.accepted ?? null, refuser, 'accepted');
      tokenAccounts.from(() => accounts()?.refused ?? null, refuser, 'refused');
    }
    const accountLists = registry.gauge(
      'account_lists',
      'Accounts read within five minutes by whether ops 10 and 12 agree; differ: op 12 says that there are no positions and op 10 lists some, over two reads.',
      'verdict',
    );
    const lists = onceATurn(() => this.#watched?.lists.counts());
    for (const verdict of ['agree', 'differ'] as const) {
      accountLists.from(() => lists()?.[verdict] ?? null, verdict);
    }
    const gauge = (name: string, help: string, read: (watched: Watched) => number | null) =>
      registry.gauge(name, help).from(() => this.#watched && read(this.#watched));
    gauge('orders_under_way', 'Orders without an outcome yet.', ({ orders }) => orders.underWay);
    gauge(
      'order_oldest_under_way_seconds',
      'Age of the oldest order without an outcome; 0: there is none.',
      ({ orders }) => orders.oldestSeconds,
    );
    gauge('catalogs', 'Catalogs in memory.', ({ catalogs }) => catalogs.stats().count);
    gauge(
      'stale_catalogs',
      'Catalogs past their time.',
      ({ catalogs }) => catalogs.staleGroups.length,
    );
    gauge(
      'catalog_age_seconds',
      'Age of the oldest catalog; 0: there is none.',
      ({ catalogs }) => catalogs.stats().ageSeconds,
    );
    gauge(
      'catalog_left_seconds',
      'Time until the first catalog may be served no longer, as while the gateway fails.',
      ({ catalogs }) => catalogs.stats().leftSeconds,
    );
    const gaugeOfGroups = (name: string, help: string, figure: 'size' | 'offered' | 'skipped') =>
      registry.gauge(name, help, 'group').fromEach(() => {
        const figures = this.#watched?.catalogs.figures ?? [];
        return figures.map(({ group, [figure]: value }) => [value, group] as const);
      });
    gaugeOfGroups(
      'catalog_instruments',
      'Instruments of each catalog in memory, 100 groups at most.',
      'size',
    );
    gaugeOfGroups(
      'catalog_offered_instruments',
      'Instruments in the gateway’s last answer; with less than half of the catalog’s it is kept out for a time.',
      'offered',
    );
    gaugeOfGroups('catalog_skipped', 'Instruments that were left out as broken.', 'skipped');
    gauge(
      'catalog_unknown_values',
      'Values of instruments that are null because an enum here lacks them.',
      ({ catalogs }) => catalogs.stats().unknownValues,
    );
    const hubStats = onceATurn(() => this.#watched?.hub.stats());
    const gaugeOfHub = (name: string, help: string, stat: keyof Omit<HubStats, 'polls'>) =>
      gauge(name, help, () => hubStats()?.[stat] ?? null);
    gaugeOfHub('feeds', 'Accounts that are polled.', 'feeds');
    gaugeOfHub('feeds_delayed', 'Feeds whose last poll failed.', 'delayed');
    gaugeOfHub(
      'feed_oldest_seconds',
      'Time since the gateway confirmed the oldest list that subscribers see; 0: there is none.',
      'oldestSeconds',
    );
    gaugeOfHub('subscriptions', 'Live subscriptions.', 'subscriptions');
    const polls = registry.tally('feed_polls_total', 'Polls of live feeds by outcome.', 'outcome');
    for (const outcome of POLL_OUTCOMES) {
      polls.from(() => hubStats()?.polls[outcome] ?? null, outcome);
    }
    gaugeOfHub(
      'feed_polls_waiting',
      'Polls that are due and wait for the ceiling.',
      'waitingPolls',
    );
    gaugeOfHub(
      'feed_poll_stretch',
      'Factor by which GATEWAY_POLLS_PER_SECOND lengthens the intervals of all feeds.',
      'stretch',
    );
  }

  /** The services that the gauges read at each scrape. */
  watch(watched: Watched): void {
    this.#watched = watched;
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
