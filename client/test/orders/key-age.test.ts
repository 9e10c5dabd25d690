import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ageOf, stampNow, stampStored } from '../../src/orders/key-age.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { buying, startPhone } from '../support/phone.ts';

const HOUR_MS = 3_600_000;

describe('a ticket whose key the server may have forgotten is asked about, and never sent', () => {
  test('25 hours later in the same run of the app', async () => {
    await using phone = await startPhone();
    const app = phone.open();
    const ticket = await phone.interrupt(buying('yesterday'), 'lost', app);
    phone.clockMs = 25 * HOUR_MS;
    expect(await ticket.place(buying('yesterday'))).toMatchObject({
      status: 'unknown',
      error: { code: 'KEY_EXPIRED', retryable: false },
    });
    expect(app.sent.at(-1)).toEqual({ key: ticket.idempotencyKey });
    expect(phone.app.sandbox.orders()).toEqual([]);
  });

  test.each([
    [25, 'old'],
    [23, 'old'],
    [22, 'fresh'],
    [-1, 'inDoubt'],
  ] as const)('%d hours later after a restart: %s', async (hours, age) => {
    await using phone = await startPhone();
    await phone.interrupt(buying('restarted'), 'lost');
    phone.clockMs = hours * HOUR_MS;
    const { orders } = phone.open();
    const [resumed] = await orders.resume();
    expect(resumed).toMatchObject({ age, outcome: { status: 'notFound' } });
    // The clock is set right again, which does not make an age certain that was not.
    if (age === 'inDoubt') phone.clockMs = 0;
    const outcome = await resumed?.ticket.place(buying('restarted'));
    if (age === 'fresh') expect(outcome).toMatchObject({ status: 'accepted' });
    else expect(outcome).toMatchObject({ status: 'unknown', error: { code: 'KEY_EXPIRED' } });
    expect(phone.app.sandbox.orders()).toHaveLength(age === 'fresh' ? 1 : 0);
  });

  test('where another stamp shows that the clock went back', async () => {
    await using phone = await startPhone();
    await phone.interrupt(buying('first'), 'lost');
    phone.clockMs = 24 * HOUR_MS;
    phone.signIn('pro@example.com');
    await phone.interrupt(buying('second, by another user'), 'lost');
    phone.clockMs = HOUR_MS;
    phone.signIn('demo@example.com');
    expect(await phone.open().orders.resume()).toMatchObject([{ age: 'inDoubt' }]);
  });

  test('where the clock is set back while the app runs', async () => {
    await using phone = await startPhone();
    const app = phone.open();
    const ticket = await phone.interrupt(buying('set back'), 'lost', app);
    phone.clockMs = -HOUR_MS;
    expect(await ticket.place(buying('set back'))).toMatchObject({
      error: { code: 'KEY_EXPIRED' },
    });
    expect(phone.app.sandbox.orders()).toEqual([]);
  });

  test('but an outcome on record is told however old the key is', async () => {
    await using phone = await startPhone();
    const app = phone.open();
    const ticket = await phone.interrupt(buying('on record'), 'answer-lost', app);
    phone.clockMs = 30 * HOUR_MS;
    expect(await ticket.place(buying('on record'))).toMatchObject({ status: 'accepted' });
    expect(phone.app.sandbox.orders()).toHaveLength(1);
  });

  test('a new order may be placed whatever the clock says', async () => {
    await using phone = await startPhone();
    for (const hours of [-100_000, 0, 100_000]) {
      phone.clockMs = hours * HOUR_MS;
      expect(await phone.open().orders.ticket().place(buying('new'))).toMatchObject({
        status: 'accepted',
      });
    }
  });
});

test('a stored key goes on ageing from what it had, where the clock is set back in this run', () => {
  let [nowHours, uptimeHours] = [22, 1];
  const environment = countedEnvironment({
    now: () => nowHours * HOUR_MS,
    uptime: () => uptimeHours * HOUR_MS,
  });
  const stamp = stampStored(environment, 0);
  const unreadable = stampStored(environment, null);
  expect(ageOf(stamp, environment, 0)).toBe('fresh');
  expect(ageOf(unreadable, environment, 0)).toBe('inDoubt');
  [nowHours, uptimeHours] = [20, 2];
  expect(ageOf(stamp, environment, 0)).toBe('old');
});

/** A stretch of a phone's life; times in minutes. */
interface Span {
  readonly awake: number;
  readonly asleep: number;
  readonly clockSet: number;
}

const minutes = fc.integer({ min: 0, max: 26 * 60 });

function phoneClock() {
  let now = 0;
  let uptime = 0;
  let age = 0;
  const environment = countedEnvironment({
    now: () => now * 60_000,
    uptime: () => uptime * 60_000,
  });
  return {
    environment,
    ageMs: () => age * 60_000,
    live({ awake, asleep, clockSet }: Span) {
      now += awake + asleep + clockSet;
      uptime += awake;
      age += awake + asleep;
    },
  };
}

test('a key that is called fresh is less than 24 hours old, unless the clock was set back over sleep', () => {
  const span = fc.record({
    awake: minutes,
    asleep: minutes,
    clockSet: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 6_000 })),
  });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 6 }), fc.boolean(), (spans, isRestarted) => {
      const phone = phoneClock();
      const first = stampNow(phone.environment);
      const half = isRestarted ? Math.floor(spans.length / 2) : spans.length;
      for (const one of spans.slice(0, half)) phone.live(one);
      const stamp = isRestarted ? stampStored(phone.environment, first.at) : first;
      for (const one of spans.slice(half)) phone.live(one);
      const age = ageOf(stamp, phone.environment, -Infinity);
      if (age === 'fresh') expect(phone.ageMs()).toBeLessThan(24 * HOUR_MS);
    }),
    { numRuns: 2_000 },
  );
});

test('a key that is called fresh is less than 24 hours old where the app was awake, however the clock was set', () => {
  const span = fc.record({
    awake: minutes,
    asleep: fc.constant(0),
    clockSet: fc.integer({ min: -6_000, max: 6_000 }),
  });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 6 }), (spans) => {
      const phone = phoneClock();
      const stamp = stampNow(phone.environment);
      for (const one of spans) phone.live(one);
      const age = ageOf(stamp, phone.environment, -Infinity);
      if (age === 'fresh') expect(phone.ageMs()).toBeLessThan(24 * HOUR_MS);
    }),
    { numRuns: 2_000 },
  );
});
