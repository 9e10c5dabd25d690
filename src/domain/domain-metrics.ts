import { systemClock } from '../lib/clock.ts';
import type { MetricsRegistry } from '../lib/metrics-registry.ts';
import type { Catalogs } from './catalog/catalogs.ts';
import type { OpenPositions } from './feed/open-positions.ts';
import type { OwnLists } from './feed/own-lists.ts';
import type { PollSchedule } from './feed/poll-schedule.ts';

interface Watched {
  readonly catalogs: Catalogs;
  readonly openPositions: OpenPositions;
  readonly ownLists: OwnLists;
  readonly schedule: PollSchedule;
  readonly orders: { readonly oldestSeconds: number };
}

/** The metrics of the business: orders, catalogs, live feeds, tokens. */
export class DomainMetrics {
  readonly orders;
  readonly doubts;
  readonly contradictions;
  readonly catalogFetches;
  readonly tokens;
  readonly signIns;
  readonly #registry: MetricsRegistry;

  constructor(registry: MetricsRegistry) {
    this.#registry = registry;
    this.orders = registry.counter(
      'orders_total',
      'Orders by outcome, without repeats. Expired: too late for their sendBefore. Unsent: refused before sending.',
      { outcome: ['accepted', 'rejected', 'unknown', 'expired', 'unsent'] },
    );
    this.doubts = registry.counter(
      'orders_doubted_total',
      'Answers by which an earlier request may have placed the order.',
    );
    this.contradictions = registry.counter(
      'orders_contradicted_total',
      'Answers of the gateway that contradict an outcome settled by an operator.',
    );
    this.catalogFetches = registry.counter(
      'catalog_fetches_total',
      'Fetches of a catalog; personal: a failure that concerns one token only.',
      { outcome: ['modified', 'unmodified', 'failed', 'personal'] },
    );
    this.tokens = registry.counter(
      'tokens_total',
      'Tokens that the gateway accepted for the first time or refused, and tokens refused here: without a usable login, for their key, issuer or audience, or for another reason.',
      { result: ['accepted', 'refused', 'login', 'key', 'other'] },
    );
    this.signIns = registry.counter('sign_ins_total', '`login` fields by outcome.', {
      outcome: ['granted', 'rejected', 'limited', 'failed'],
    });
  }

  watch({ catalogs, openPositions, ownLists, schedule, orders }: Watched): void {
    const registry = this.#registry;
    const running = () => [...openPositions.running, ...ownLists.running];
    registry.gauge(
      'order_oldest_under_way_seconds',
      'Age of the oldest order without an outcome; 0 if there is none.',
      () => orders.oldestSeconds,
    );
    registry.gauge(
      'stale_catalogs',
      'Catalogs that are served past their maximum age.',
      () => catalogs.figures.filter(({ isStale }) => isStale).length,
    );
    registry.gauge(
      'catalog_left_seconds',
      'Time until the first catalog may no longer be served.',
      () => {
        const { figures } = catalogs;
        return figures.length === 0 ? null : Math.min(...figures.map((each) => each.leftSeconds));
      },
    );
    registry.gauge(
      'feeds',
      'Live lists that are polled, each of one account.',
      () => running().length,
    );
    registry.gauge(
      'feeds_delayed',
      'Feeds whose last poll failed.',
      () => running().filter(({ state }) => state.status === 'DELAYED').length,
    );
    registry.gauge(
      'feed_oldest_seconds',
      'Time since the gateway confirmed the oldest list in use; 0 if there is none.',
      () => {
        const nowMs = systemClock.now();
        const ages = openPositions.running.map(
          ({ state }) => nowMs - (state.list?.sentAtMs ?? nowMs),
        );
        return ages.reduce((oldest, ageMs) => Math.max(oldest, ageMs), 0) / 1000;
      },
    );
    registry.gauge(
      'feed_poll_stretch',
      'Factor by which GATEWAY_POLLS_PER_SECOND lengthens all poll intervals.',
      () => schedule.stretch,
    );
    registry.gauge('subscriptions', 'Live subscriptions.', () =>
      running().reduce((sum, { tokens }) => sum + tokens.subscriptionCount, 0),
    );
    const byGroup = (name: string, help: string, figure: 'size' | 'offered' | 'skipped') =>
      registry.gauges(name, help, ['group'], () =>
        catalogs.figures.map((each) => [each[figure], each.group]),
      );
    byGroup('catalog_instruments', 'Instruments of each catalog in memory.', 'size');
    byGroup('catalog_offered_instruments', 'Instruments in the gateway’s last answer.', 'offered');
    byGroup('catalog_skipped', 'Broken instruments that were left out.', 'skipped');
  }
}
