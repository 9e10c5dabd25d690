import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CLOCKS_DIFFER_MS } from '../../../src/store/order-gap.ts';
import { startedForEach } from '../../../test/support/started.ts';
import {
  ageOf,
  datedStamp,
  ERROR_MS,
  momentOf,
  stampNow,
  stampStored,
} from '../../src/orders/key-age.ts';
import { ServerClock } from '../../src/server-clock.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { ACCEPTED, buying, startPhone, unknown } from '../support/phone.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const phone = startedForEach(startPhone);

interface Named {
  readonly input?: { readonly idempotencyKey: string; readonly keyMade?: string };
}

/** The `keyMade` that each order was sent with; a void has none. */
const namedIn = (sent: readonly unknown[]) =>
  (sent as readonly Named[]).flatMap(({ input }) => (input ? [input.keyMade] : []));

test('a ticket sends nothing where nobody knows when it was made, as of an entry of a version without the server’s time', async () => {
  await phone.interrupt(buying('former'), 'lost');
  for (const [name, text] of phone.storage.entries) {
    const { digest, at } = JSON.parse(text);
    phone.storage.entries.set(name, JSON.stringify({ digest, at }));
  }
  const [resumed] = await phone.open().orders.resume();
  expect(resumed).toMatchObject({
    placedAt: expect.any(String),
    outcome: unknown('KEY_EXPIRED'),
  });
  expect(await resumed?.ticket.place(buying('former'))).toMatchObject(
    unknown('IDEMPOTENCY_UNAVAILABLE'),
  );
  expect(phone.app.sandbox.orders()).toEqual([]);
});

test('a key is taken for older by as much as the clocks of replicas may differ', () => {
  const clocks = phoneClock().clocks;
  clocks.serverClock.onDate(new Date(DAY_MS).toUTCString(), 0, 0);
  const since = momentOf(datedStamp(stampNow(clocks), clocks), -ERROR_MS);
  expect(DAY_MS - Date.parse(String(since))).toBeGreaterThanOrEqual(CLOCKS_DIFFER_MS);
});

describe('after a sleep in which the uptime stood still', () => {
  const MINUTE_MS = 60_000;

  async function afterSleep() {
    // The server itself judges by the real time, which the dates tell after the sleep.
    phone.pass(-MINUTE_MS);
    const app = await phone.openKnown();
    phone.pass(MINUTE_MS);
    return app;
  }

  test('a new order asks for the server’s time first', async () => {
    const { orders, sent } = await afterSleep();
    expect(await orders.ticket().place(buying('awake'))).toMatchObject(ACCEPTED);
    expect(await orders.ticket().place(buying('again'))).toMatchObject(ACCEPTED);
    expect(phone.line.pings).toBe(1);
    expect(sent).toMatchObject(Array(2).fill({ input: { sendBefore: expect.any(String) } }));
  });
});

test('a ticket says nothing of when its key was made whose entry is of a version that did not send it', async () => {
  await phone.interrupt(buying('former'), 'lost');
  for (const [name, text] of phone.storage.entries) {
    const { keyMade, ...former } = JSON.parse(text);
    expect(keyMade).toEqual(expect.any(String));
    phone.storage.entries.set(name, JSON.stringify(former));
  }
  const { orders, sent } = phone.open();
  // Neither what became of it is known by then, nor its key closed.
  phone.line.next.push(...Array(100).fill('lost'));
  const [resumed] = await orders.resume({ withinMs: 2_000 });
  phone.line.next.length = 0;
  sent.length = 0;
  expect(await resumed?.ticket.place(buying('former'))).toMatchObject(ACCEPTED);
  expect(namedIn(sent)).toEqual([undefined]);
});

/** A stretch of a phone's life; times in minutes. */
interface Span {
  readonly awake: number;
  readonly asleep: number;
  readonly clockSet: number;
}

const minutes = fc.integer({ min: 0, max: 26 * 60 });
const setBy = fc.oneof(fc.constant(0), fc.integer({ min: -6_000, max: 6_000 }));

function phoneClock() {
  let now = 0;
  let uptime = 0;
  let age = 0;
  const environment = countedEnvironment({
    now: () => now * 60_000,
    uptime: () => uptime * 60_000,
  });
  const serverClock = new ServerClock(environment);
  return {
    clocks: { environment, serverClock },
    ageMs: () => age * 60_000,
    hear() {
      const date = new Date(Date.UTC(2026, 0) + age * 60_000).toUTCString();
      serverClock.onDate(date, uptime * 60_000 - 100, uptime * 60_000);
    },
    live({ awake, asleep, clockSet }: Span) {
      now += awake + asleep + clockSet;
      uptime += awake;
      age += awake + asleep;
    },
  };
}

test('a key that is called fresh is less than 24 hours old when the server has just answered', () => {
  const span = fc.record({ awake: minutes, asleep: minutes, clockSet: setBy });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 6 }), fc.boolean(), (spans, isRestarted) => {
      const phone = phoneClock();
      phone.hear();
      const first = datedStamp(stampNow(phone.clocks), phone.clocks);
      const half = isRestarted ? Math.floor(spans.length / 2) : spans.length;
      for (const one of spans.slice(0, half)) phone.live(one);
      phone.hear();
      const stamp = isRestarted ? stampStored(phone.clocks, first.made) : first;
      for (const one of spans.slice(half)) phone.live(one);
      phone.hear();
      const age = ageOf(stamp, phone.clocks);
      if (phone.ageMs() < 23 * HOUR_MS) expect(age).toBe('fresh');
      if (age === 'fresh') expect(phone.ageMs()).toBeLessThan(DAY_MS);
    }),
    { numRuns: 2_000 },
  );
});

test('a key is never told to be made later than at its first request, whatever the clocks of the device do', () => {
  const span = fc.record({ awake: minutes, asleep: minutes, clockSet: setBy });
  fc.assert(
    fc.property(
      fc.array(span, { maxLength: 6 }),
      fc.array(span, { maxLength: 3 }),
      (past, wait) => {
        const phone = phoneClock();
        for (const one of past) {
          phone.hear();
          phone.live(one);
        }
        const tapped = stampNow(phone.clocks);
        for (const one of wait) phone.live(one);
        const { made } = datedStamp(tapped, phone.clocks);
        // A date has no milliseconds, of which none is missing here.
        expect(Number(made)).toBeLessThanOrEqual(Date.UTC(2026, 0) + phone.ageMs());
      },
    ),
    { numRuns: 2_000 },
  );
});

test('without the server’s time a key is fresh by this run’s clocks alone', () => {
  const span = fc.record({ awake: minutes, asleep: fc.constant(0), clockSet: setBy });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 6 }), (spans) => {
      const phone = phoneClock();
      const stamp = stampNow(phone.clocks);
      for (const one of spans) phone.live(one);
      if (ageOf(stamp, phone.clocks) === 'fresh') expect(phone.ageMs()).toBeLessThan(DAY_MS);
      expect(ageOf(stampStored(phone.clocks, Date.now()), phone.clocks)).toBe('inDoubt');
    }),
    { numRuns: 2_000 },
  );
});
