import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServerClock } from '../src/server-clock.ts';
import { TestCore } from './support/client.ts';
import { countedEnvironment } from './support/counted-environment.ts';

const START_MS = Date.UTC(2026, 0, 5, 12);

function clockAt() {
  const device = { up: 0, now: 0 };
  const clock = new ServerClock(
    countedEnvironment({ uptime: () => device.up, now: () => device.now }),
  );
  /** Receives an answer that the server dated at `serverMs`. */
  const receive = (serverMs: number, outMs: number, backMs: number) => {
    const sentUp = device.up;
    device.up += outMs + backMs;
    clock.onDate(new Date(serverMs).toUTCString(), sentUp, device.up);
  };
  return { device, clock, receive };
}

test('the clock is never ahead of the server’s, and at most a second and a round trip behind', () => {
  const answer = fc.record({
    pauseMs: fc.integer({ min: 0, max: 60_000 }),
    outMs: fc.integer({ min: 1, max: 3_000 }),
    backMs: fc.integer({ min: 1, max: 3_000 }),
  });
  fc.assert(
    fc.property(fc.array(answer, { minLength: 1, maxLength: 20 }), (answers) => {
      const { device, clock, receive } = clockAt();
      let shortestMs = Number.POSITIVE_INFINITY;
      for (const { pauseMs, outMs, backMs } of answers) {
        device.up += pauseMs;
        receive(START_MS + device.up + outMs, outMs, backMs);
        shortestMs = Math.min(shortestMs, backMs);
        const behindMs = START_MS + device.up - Number(clock.now());
        expect(behindMs).toBeGreaterThanOrEqual(0);
        expect(behindMs).toBeLessThanOrEqual(1_000 + shortestMs);
      }
    }),
  );
});

test('the next answer sets the clock after a sleep, or if the server’s clock was set back', () => {
  const { device, clock, receive } = clockAt();
  receive(START_MS, 10, 10);
  receive(START_MS + 3_600_000, 10, 10);
  // The device's own clock is not used.
  device.now = 1e12;
  expect(clock.now()).toBe(START_MS + 3_600_000);
  receive(START_MS, 10, 10);
  device.up += 500;
  expect(clock.now()).toBe(START_MS + 500);
});

test('a request is in doubt after four round trips and two seconds, but after five seconds at the latest', () => {
  const { clock, receive } = clockAt();
  expect([clock.now(), clock.doubtMs]).toEqual([null, 5_000]);
  receive(START_MS, 100, 100);
  expect(clock.doubtMs).toBe(2_800);
  // If the gateway is slow for one answer, its round trip counts as at most twice the former one: as 400 ms.
  receive(START_MS, 100, 5_000);
  expect(clock.doubtMs).toBe(3_600);
  for (let times = 0; times < 5; times += 1) receive(START_MS, 2_000, 2_000);
  expect(clock.doubtMs).toBe(5_000);
});

test('each dead connection doubles the time after which a request is in doubt, until an answer arrives', () => {
  const { clock, receive } = clockAt();
  receive(START_MS, 0, 1);
  const doubts = [0, 1, 2].map(() => {
    clock.onDead();
    return clock.doubtMs;
  });
  // The first value is twice the sum of two seconds and four round trips of a millisecond. The others are the maximum.
  expect(doubts).toEqual([4_008, 5_000, 5_000]);
  receive(START_MS, 50, 50);
  expect(clock.doubtMs).toBe(2_400);
  // The connection has become slow, which the first answer shows.
  clock.onDead();
  receive(START_MS, 1_600, 1_600);
  expect(clock.doubtMs).toBe(5_000);
});

const DATE = 'Mon, 05 Jan 2026 12:00:00 GMT';
const OURS = { date: DATE, 'x-request-id': 'one' };

test.each([
  ['an answer of the server', '{"data":{}}', OURS, true],
  ['an answer to a GET, which a cache may have given', '{"data":{}}', OURS, false],
  ['an answer from a cache', '{"data":{}}', { ...OURS, age: '3' }, false],
  ['an answer without a request id', '{"data":{}}', { date: DATE }, false],
  ['a page of another server', '<html>Welcome</html>', OURS, false],
  ['JSON of another server', '{"ok":true}', OURS, false],
  ['an answer without a date', '{"data":{}}', { 'x-request-id': 'one' }, false],
])('%s sets the clock: %s', async (what, text, headers, isUsed) => {
  const core = new TestCore({
    url: 'http://127.0.0.1:9/graphql',
    token: () => null,
    onSignedOut: () => {},
    environment: countedEnvironment({ fetch: async () => new Response(text, { headers }) }),
  });
  // Only a trusted query is sent by GET.
  const isGet = what.includes('GET');
  const document = isGet ? { documentId: 'trusted' } : '{ __typename }';
  await core.request(document, {}, { anonymous: true, repeats: isGet });
  expect(core.serverClock.now() !== null).toBe(isUsed);
});
