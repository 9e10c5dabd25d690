import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { ACCEPTED, buying, startPhone, undatedFetch, unknown, unsent } from '../support/phone.ts';

const HOUR_MS = 3_600_000;
const phone = startedForEach(startPhone);

interface Named {
  readonly input?: { readonly idempotencyKey: string; readonly keyMade?: string };
}

/** The `keyMade` that each order was sent with; a void has none. */
const namedIn = (sent: readonly unknown[]) =>
  (sent as readonly Named[]).flatMap(({ input }) => (input ? [input.keyMade] : []));

/** The time of the server, as its answers tell it at most. */
const serverNow = () => systemClock.now() + phone.line.aheadMs;

describe('a ticket says when its key was made', () => {
  test.each([-10 * 60_000, 0, 10 * 60_000])('on a device that is %d ms off', async (clockMs) => {
    phone.clockMs = clockMs;
    const { orders, sent } = phone.open();
    const before = serverNow();
    expect(await orders.ticket().place(buying('made'))).toMatchObject(ACCEPTED);
    const made = Date.parse(String(namedIn(sent)[0]));
    expect(made).toBeLessThanOrEqual(serverNow());
    // A date has no milliseconds, and the first answer came before the order.
    expect(made).toBeGreaterThan(before - 2_000);
  });

  test('once: it stays over lost requests, a kill of the app, and a later tap', async () => {
    const first = phone.open();
    await phone.interrupt(buying('kept'), 'lost', first);
    const second = phone.open();
    phone.pass(20_000);
    const [resumed] = await second.orders.resume();
    expect(await resumed?.ticket.place(buying('kept'))).toMatchObject(ACCEPTED);
    const named = namedIn([...first.sent, ...second.sent]);
    expect(named.length).toBeGreaterThan(1);
    expect(new Set(named)).toEqual(new Set([expect.stringMatching(/Z$/)]));
  });

  test('also where the gateway was away at the first tap, and the order is placed by a later one', async () => {
    const { orders, sent } = phone.open();
    const headers = { 'retry-after': '70' };
    phone.app.sandbox.fail({
      operation: 'openPosition',
      kind: 'status',
      status: 429,
      headers,
      times: 1,
    });
    const ticket = orders.ticket();
    expect(await ticket.place(buying('later'))).toMatchObject(unsent('RATE_LIMITED'));
    phone.pass(30_000);
    expect(await ticket.place(buying('later'))).toMatchObject(ACCEPTED);
    const [named, ...later] = namedIn(sent);
    expect(named).toEqual(expect.any(String));
    expect(later).toEqual([named]);
  });

  test('by the server’s clock, which is asked for where nothing has told it', async () => {
    const { orders, sent, core } = phone.open();
    core.expectLogin('700001');
    expect(await orders.ticket().place(buying('asked'))).toMatchObject(ACCEPTED);
    expect(namedIn(sent)).toEqual([expect.any(String)]);
  });
});

describe('a ticket says nothing of when its key was made', () => {
  test('where no answer told it before the first request: it cannot be known later', async () => {
    let isDated = false;
    const fetching: typeof fetch = (...of) => (isDated ? fetch : undatedFetch)(...of);
    const { orders, sent } = phone.open({}, { fetch: fetching });
    phone.line.next.push('lost');
    const placing = orders.ticket({ maxWaitMs: 60_000 }).place(buying('undated'));
    await eventually(() => expect(phone.line.orders).toBe(1));
    isDated = true;
    expect(await placing).toMatchObject(ACCEPTED);
    expect(namedIn(sent)).toEqual([undefined, undefined]);
  });

  test('whose entry is of a version that did not send it', async () => {
    await phone.interrupt(buying('former'), 'lost');
    for (const [name, text] of phone.storage.entries) {
      const { keyMade, ...former } = JSON.parse(text);
      expect(keyMade).toEqual(expect.any(String));
      phone.storage.entries.set(name, JSON.stringify(former));
    }
    const { orders, sent } = phone.open();
    const [resumed] = await orders.resume();
    expect(await resumed?.ticket.place(buying('former'))).toMatchObject(ACCEPTED);
    expect(namedIn(sent)).toEqual([undefined]);
  });

  test('once a server has refused it, whose clock is an hour behind its dates: the key stays', async () => {
    phone.line.aheadMs = HOUR_MS;
    const { orders, sent } = phone.open();
    const ticket = orders.ticket({ maxWaitMs: HOUR_MS });
    const { idempotencyKey } = ticket;
    expect(await ticket.place(buying('ahead'))).toMatchObject({ ...ACCEPTED, idempotencyKey });
    expect(namedIn(sent)).toEqual([expect.any(String), undefined]);
    expect(phone.app.sandbox.orders()).toHaveLength(1);
  });
});

describe('an order that is refused for a gap of the records', () => {
  const gap = { until: '2026-01-01T00:00:00Z' };
  const extensions = { code: 'IDEMPOTENCY_UNAVAILABLE', retryable: true, retryAfter: 60, gap };
  const refusal = { data: { order: null }, errors: [{ message: 'A gap.', extensions }] };
  const afterLoss: typeof fetch = async (input, init) => {
    const isPlacing = /order: place(?!d)/.test(String(init?.body));
    return isPlacing && phone.line.next.length === 0 ? Response.json(refusal) : fetch(input, init);
  };

  test.each([
    ['first', [], unsent('IDEMPOTENCY_UNAVAILABLE', { extensions: { gap } }), 0],
    ['after a lost one', ['lost'], unknown('IDEMPOTENCY_UNAVAILABLE', { extensions: { gap } }), 1],
  ] as const)('%s is told so, and gets no other key or time', async (_, faults, told, kept) => {
    const { orders, sent } = await phone.openKnown({}, { fetch: afterLoss });
    phone.line.next.push(...faults);
    const ticket = orders.ticket();
    const { idempotencyKey } = ticket;
    for (let tap = 0; tap < 2; tap += 1) {
      expect(await ticket.place(buying('gap'))).toMatchObject({ ...told, idempotencyKey });
      expect(phone.storage.entries.size).toBe(kept);
    }
    expect(sent).toHaveLength(faults.length + 2);
    expect(new Set(namedIn(sent)).size).toBe(1);
    expect((sent as Named[]).map(({ input }) => input?.idempotencyKey)).toEqual(
      Array(sent.length).fill(idempotencyKey),
    );
  });
});
