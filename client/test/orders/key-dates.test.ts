import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CLOCK_TOLERANCE_MS } from '../../../src/store/order-gap.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { KeyDates } from '../../src/orders/key-dates.ts';
import { ServerClock } from '../../src/server-clock.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { ACCEPTED, buying, startPhone } from '../support/phone.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const phone = startedForEach(startPhone);

test('a key counts as older by the difference that the clocks of replicas can have', () => {
  const clocks = phoneClock().clocks;
  clocks.serverClock.onDate(new Date(DAY_MS).toUTCString(), 0, 0);
  expect(DAY_MS - Date.parse(String(tapped(clocks).since))).toBeGreaterThanOrEqual(
    CLOCK_TOLERANCE_MS,
  );
});

describe('after a sleep in which the uptime stood still', () => {
  async function afterSleep() {
    // During the sleep the phone's uptime falls a minute behind the server's clock, which is the real one.
    phone.pass(-MINUTE_MS);
    const app = await phone.openKnown();
    phone.pass(MINUTE_MS);
    return app;
  }

  test('the client asks for the server’s time before it sends a new order', async () => {
    const { orders, sent } = await afterSleep();
    expect(await orders.ticket().place(buying('awake'))).toMatchObject(ACCEPTED);
    expect(await orders.ticket().place(buying('again'))).toMatchObject(ACCEPTED);
    expect(phone.line.pings).toBe(1);
    expect(sent).toMatchObject(Array(2).fill({ input: { sendBefore: expect.any(String) } }));
  });
});

/** A period of the phone's use, in minutes. */
interface Span {
  readonly awake: number;
  readonly asleep: number;
  readonly clockSet: number;
}

const minutes = fc.integer({ min: 0, max: 26 * 60 });
type Clocks = ReturnType<typeof phoneClock>['clocks'];
/** By how many minutes the user sets the phone's clock. */
const setBy = fc.oneof(fc.constant(0), fc.integer({ min: -6_000, max: 6_000 }));

/** The dates of a key that is tapped now. */
function tapped(clocks: Clocks): KeyDates {
  const dates = new KeyDates(clocks);
  dates.begin();
  dates.date();
  return dates;
}

/** The dates of a key from an earlier run of the app. */
function restored(clocks: Clocks, made: number | null): KeyDates {
  const dates = new KeyDates(clocks);
  dates.adopt(made, undefined);
  return dates;
}

/** A phone's clocks, which `live` moves. All its times are in minutes. */
function phoneClock() {
  let now = 0;
  let uptime = 0;
  let age = 0;
  const environment = countedEnvironment({
    now: () => now * MINUTE_MS,
    uptime: () => uptime * MINUTE_MS,
  });
  const serverClock = new ServerClock(environment);
  return {
    clocks: { environment, serverClock },
    ageMs: () => age * MINUTE_MS,
    receiveDate() {
      const date = new Date(Date.UTC(2026, 0) + age * MINUTE_MS).toUTCString();
      const arrivedUp = uptime * MINUTE_MS;
      serverClock.onDate(date, arrivedUp - 100, arrivedUp);
    },
    live({ awake, asleep, clockSet }: Span) {
      now += awake + asleep + clockSet;
      uptime += awake;
      age += awake + asleep;
    },
  };
}

// A key is `fresh` if the server still has its record, and `inDoubt` if its age is unknown.
test('right after an answer of the server, a key that counts as fresh is less than 24 hours old', () => {
  const span = fc.record({ awake: minutes, asleep: minutes, clockSet: setBy });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 6 }), fc.boolean(), (spans, isRestarted) => {
      const device = phoneClock();
      device.receiveDate();
      const first = tapped(device.clocks);
      // Some cases restart the app in the middle.
      const before = isRestarted ? Math.floor(spans.length / 2) : spans.length;
      for (const each of spans.slice(0, before)) device.live(each);
      device.receiveDate();
      const dates = isRestarted ? restored(device.clocks, first.made) : first;
      for (const each of spans.slice(before)) device.live(each);
      device.receiveDate();
      const { age } = dates;
      // The client keeps an hour in reserve, so a key must count as fresh only up to 23 hours.
      if (device.ageMs() < 23 * HOUR_MS) expect(age).toBe('fresh');
      if (age === 'fresh') expect(device.ageMs()).toBeLessThan(DAY_MS);
    }),
    { numRuns: 2_000 },
  );
});

test('a key’s date is never later than its first request, with any clocks of the device', () => {
  const span = fc.record({ awake: minutes, asleep: minutes, clockSet: setBy });
  fc.assert(
    fc.property(
      fc.array(span, { maxLength: 6 }),
      fc.array(span, { maxLength: 3 }),
      (past, wait) => {
        const device = phoneClock();
        for (const each of past) {
          device.receiveDate();
          device.live(each);
        }
        const dates = new KeyDates(device.clocks);
        dates.begin();
        for (const each of wait) device.live(each);
        dates.date();
        // HTTP dates have no milliseconds, so all times of this test are whole seconds.
        expect(Number(dates.made)).toBeLessThanOrEqual(Date.UTC(2026, 0) + device.ageMs());
      },
    ),
    { numRuns: 2_000 },
  );
});

test('without the server’s time, the age of a key comes from the clocks of this run of the app alone', () => {
  const span = fc.record({ awake: minutes, asleep: fc.constant(0), clockSet: setBy });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 6 }), (spans) => {
      const device = phoneClock();
      const dates = tapped(device.clocks);
      for (const each of spans) device.live(each);
      if (dates.age === 'fresh') expect(device.ageMs()).toBeLessThan(DAY_MS);
      expect(restored(device.clocks, Date.now()).age).toBe('inDoubt');
    }),
    { numRuns: 2_000 },
  );
});
