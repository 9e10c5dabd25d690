import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { withEarlierStore } from '../../support/earlier-store.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { readMetrics } from '../../support/leaks.ts';
import { keyOf } from '../../support/order-keys.ts';
import { temporaryFolder } from '../../support/own-folder.ts';

const HOUR_MS = 3_600_000;
const SET_DATE = new URL('../../support/set-date.ts', import.meta.url).href;

interface Event {
  readonly accountChanges: {
    readonly asOf: string;
    readonly orders: { readonly fetchedAt: string };
    readonly session: { readonly fetchedAt: string };
  };
}

/** The service on a machine whose date is ahead of the gateway's by this much. SIGUSR2 corrects the date. */
async function startStage(aheadMs = HOUR_MS) {
  await using opened = new AsyncDisposableStack();
  const sandbox = opened.use(await startSandbox({ tickMs: 0, instruments: 40 }));
  const folder = opened.use(await temporaryFolder());
  const store = await withEarlierStore({ ORDER_STORE: join(folder.path, 'orders.db') });
  const environment = { GATEWAY_URL: sandbox.url, ...store, DATE_AHEAD_MS: String(aheadMs) };
  const facade = opened.use(await startFacadeProcess(environment, ['--import', SET_DATE]));
  const token = sandbox.token({ email: 'demo@example.com' });
  const options = {
    url: facade.webSocketUrl,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
  };
  const client = opened.adopt(createClient(options), (each) => each.terminate());
  const parts = opened.move();
  return {
    facade,
    sandbox,
    query: (document: string) => facade.query(document, { token }),
    async firstEvent(query: string) {
      for await (const { data } of client.iterate<Event>({ query })) return data?.accountChanges;
      return undefined;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const CATALOG = '{ session { id } catalog { stale ageSeconds fetchedAt } }';

test.concurrent('a new catalog is not considered old if the date is ahead of the gateway’s', async () => {
  await using stage = await startStage();
  const { catalog } = (await stage.query(CATALOG)).data;
  expect(catalog).toMatchObject({ stale: false });
  expect(catalog.ageSeconds).toBeLessThan(600);
});

test.concurrent('after the date was set back, all times in answers are by the new date', async () => {
  await using stage = await startStage();
  const { facade, query } = stage;
  // The service first works with the later date.
  await query(CATALOG);
  facade.signal('SIGUSR2');
  // A time by the old date is an hour in the future, and a time by the new date is not.
  const isByNewDate = (moment: string) => Date.parse(moment) < Date.now() + HOUR_MS / 2;
  await eventually(async () => {
    const { session } = (await query('{ session(maxAge: 0) { fetchedAt } }')).data;
    return isByNewDate(session.fetchedAt);
  });
  const { catalog } = (await query(CATALOG)).data;
  expect(isByNewDate(catalog.fetchedAt)).toBe(true);
  const order = `symbol: "TEST.UNKNOWN", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${keyOf('k')}"`;
  const unknown = '... on OrderOutcomeUnknown { sentAt orders { id } }';
  for (const replayed of [false, true]) {
    const { placeOrder } = (
      await query(
        `mutation { placeOrder(input: { ${order} }) { ...on OrderOutcome { replayed } ${unknown} } }`,
      )
    ).data;
    expect(placeOrder.replayed).toBe(replayed);
    expect(isByNewDate(placeOrder.sentAt)).toBe(true);
  }
  // Without a date of the gateway, its `retry-after` is compared with our date.
  const headers = { date: 'none', 'retry-after': new Date(Date.now() + 600_000).toUTCString() };
  stage.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 429, headers });
  const second = order.replace(keyOf('k'), keyOf('l'));
  const { errors } = await query(`mutation { placeOrder(input: { ${second} }) { __typename } }`);
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
  expect(errors?.[0]?.extensions.retryAfter).toBeLessThanOrEqual(600);
  const event = await stage.firstEvent(
    'subscription { accountChanges { asOf orders { fetchedAt } session { fetchedAt } } }',
  );
  const moments = [event?.asOf, event?.orders.fetchedAt, event?.session.fetchedAt];
  expect(moments.map((moment) => isByNewDate(moment ?? ''))).toEqual([true, true, true]);
});

test.concurrent('an order in flight is not considered old after the date was set forward', async () => {
  await using stage = await startStage(-HOUR_MS);
  const { facade, sandbox, query } = stage;
  const order = `symbol: "TEST.SLOW", side: BUY, kind: MARKET, size: { units: 1 }, idempotencyKey: "${keyOf('k')}"`;
  const place = `mutation { placeOrder(input: { ${order} }) { __typename } }`;
  const placed = query(place).catch(() => 'cut');
  await eventually(() => sandbox.calls('openPosition') === 1);
  facade.signal('SIGUSR2');
  // Waits until the service works with the new date. A time by the old date is an hour in the past.
  await eventually(async () => {
    const { session } = (await query('{ session(maxAge: 0) { fetchedAt } }')).data;
    return Date.parse(session.fetchedAt) > Date.now() - HOUR_MS / 2;
  });
  const oldest = 'trading_graph_order_oldest_under_way_seconds';
  const metrics = await readMetrics(facade.adminUrl);
  const [, seconds] = new RegExp(`^${oldest} (.+)$`, 'm').exec(metrics) ?? [];
  expect(Number(seconds)).toBeGreaterThan(0);
  expect(Number(seconds)).toBeLessThan(600);
  await facade.kill();
  expect(await placed).toBe('cut');
});
