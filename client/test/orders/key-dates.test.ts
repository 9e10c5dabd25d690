import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { startedForEach } from '../../../test/support/started.ts';
import { KeyDates } from '../../src/orders/key-dates.ts';
import { ServerClock } from '../../src/server-clock.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { ACCEPTED, buying, startPhone } from '../support/phone.ts';

const MINUTE_MS = 60_000;
const phone = startedForEach(startPhone);

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
/** By how many minutes the user sets the phone's clock. */
const setBy = fc.oneof(fc.constant(0), fc.integer({ min: -6_000, max: 6_000 }));

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

test('a key’s date is never later than its first request, and gives a deadline unless it may be too early, with any clocks of the device', () => {
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
        const isKnown = dates.made !== null && !device.clocks.serverClock.isBehind;
        expect(dates.sendBefore(MINUTE_MS) !== undefined).toBe(isKnown);
      },
    ),
    { numRuns: 2_000 },
  );
});
