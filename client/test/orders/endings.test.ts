import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { newKeyAt } from '../../../src/store/order-key.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import type { OwnEnvironment } from '../../src/environment.ts';
import { PING } from '../../src/request/ping.ts';
import { fakeClient } from '../../src/testing/fake-client.ts';
import { ACCEPTED, buying, startPhone, unknown } from '../support/phone.ts';

const HOUR_MS = 3_600_000;
/** The default of five seconds could pass on a busy machine. */
const PATIENT = { maxWaitMs: 60_000 };
const phone = startedForEach(startPhone);

test.each([
  ['unanswered', fetch],
  ['refused', withoutPings],
])(
  'an order on a dead connection whose ping is %s is repeated over a WebSocket, and stays one order when the first request arrives',
  async (_, fetching) => {
    const { orders } = await phone.openKnown({}, { fetch: fetching });
    phone.line.next.push('dead');
    const steps: string[] = [];
    const onProgress = (step: string) => void steps.push(step);
    const outcome = await orders.ticket(PATIENT).place(buying('dead'), { onProgress });
    expect(outcome).toMatchObject({ status: 'accepted', replayed: false });
    expect([phone.line.sockets, phone.line.orders]).toEqual([1, 1]);
    expect(steps).toEqual(['sending', 'asking']);
    phone.line.heal();
    await eventually(() => expect(phone.line.answered).toBe(1));
    expect(phone.app.sandbox.orders()).toHaveLength(1);
  },
);

/** A `fetch` whose pings are refused, as if no new connection opened. */
function withoutPings(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const isPing = String(init?.body).includes('"{__typename}"');
  return isPing ? Promise.reject(new TypeError('Failed to fetch')) : fetch(input, init);
}

/** A round trip that is so long that the client considers the connection dead. */
const SLOW_MS = 3_200;

/** A phone that knows its account, and the kinds of requests that it sends from then on. */
async function knownPhone(environment: OwnEnvironment = {}) {
  const fake = fakeClient({ client: { environment } });
  onTestFinished(() => fake.client.dispose());
  await fake.client.query('{ a }', undefined, { account: 'nobody' });
  return { ...fake, network: fake.market.network, sent: [] as string[] };
}

test.each<[string, OwnEnvironment, number]>([
  // An app that passes `globalThis.WebSocket` passes undefined if the platform has none.
  ['undefined', { WebSocket: undefined as unknown as null }, 0],
  ['one without an answer', {}, 2],
])(
  'an order on a slow connection gets its outcome without a working WebSocket: %s',
  async (_, platform, pings) => {
    const { client, market, network, sent } = await knownPhone(platform);
    network.handshake = 'silence';
    network.server = {
      asked(request) {
        sent.push(request.query);
        network.time.after(SLOW_MS, () => market.asked(request));
      },
      subscribed() {},
      refuses: () => null,
    };
    const placing = client.orders.ticket(PATIENT).place(buying('slow line'), { withinMs: 120_000 });
    await market.accept();
    expect(await placing).toMatchObject(ACCEPTED);
    // A ping asks whether the connection is dead, which is of no use without another one.
    expect(sent.filter((query) => query === PING)).toHaveLength(pings);
  },
);

test('while the app takes long for a token the client stays on its connection', async () => {
  let waitMs = 0;
  const slow = async () => {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    return phone.token;
  };
  // Real time passes here: with faster time a busy machine would look like a dead connection.
  const { orders, core } = phone.open({ token: slow as unknown as () => string | null });
  await core.account();
  waitMs = 3_000;
  expect(await orders.ticket(PATIENT).place(buying('slow token'))).toMatchObject(ACCEPTED);
  expect([phone.line.sockets, phone.line.orders]).toEqual([0, 1]);
});

test('while the gateway is slow the client stays on its connection, even if a proxy answers the ping', async () => {
  let pings = 0;
  const fetching: typeof fetch = async (input, init) => {
    if (!String(init?.body).includes('"{__typename}"')) return fetch(input, init);
    pings += 1;
    return new Response('<html>Busy</html>', { status: 503 });
  };
  const { orders } = await phone.openKnown({}, { fetch: fetching });
  phone.app.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 3_000 });
  const outcome = await orders.ticket(PATIENT).place(buying('busy'));
  expect(outcome).toMatchObject({ status: 'accepted', replayed: false });
  expect([pings, phone.line.sockets, phone.line.orders]).toEqual([1, 0, 1]);
});

test('an order whose WebSocket opens after a sleep of an hour is not sent', async () => {
  const { client, market, network, sent } = await knownPhone();
  network.server = {
    // The connection of `fetch` is dead.
    asked() {},
    // The phone sleeps until the acknowledgement.
    refuses() {
      network.deviceAheadMs += HOUR_MS;
      network.serverAheadMs += HOUR_MS;
      return null;
    },
    subscribed: ({ query }) => void sent.push(query),
  };
  const placing = client.orders.ticket({ maxWaitMs: 2_000 }).place(buying('an hour later'));
  await market.pass(120);
  expect(await placing).toMatchObject({ status: 'unknown' });
  expect([network.tried > 0, sent]).toEqual([true, []]);
});

test('an order whose given key is ahead stays in doubt if an earlier request may still arrive', async () => {
  let late: (() => Promise<Response>) | null = null;
  const { orders } = await phone.openKnown(
    {},
    {
      fetch: (input, init) => {
        if (late !== null || !/order: place(?!d)/.test(String(init?.body)))
          return fetch(input, init);
        late = () => fetch(input, { ...init, signal: null });
        return Promise.reject(new TypeError('lost'));
      },
    },
  );
  const key = newKeyAt(systemClock.date() + 5_000);
  const ticket = orders.ticket({ idempotencyKey: key, ...PATIENT });
  expect(await ticket.place(buying('ahead'))).toMatchObject(unknown('BAD_USER_INPUT'));
  const isPlaced = async () => (await late?.())?.text().then((text) => text.includes('Accepted'));
  await eventually(isPlaced, { until: Boolean });
  expect(await ticket.retry()).toMatchObject(ACCEPTED);
});
