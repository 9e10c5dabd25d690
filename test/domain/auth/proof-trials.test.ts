import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { LogicalClock } from '../../../lib/clock.ts';
import { addressClient } from '../../../lib/limits/client.ts';
import { createKnownKeys, type SharedKeys } from '../../../lib/limits/known-keys.ts';
import { toToken } from '../../../lib/token.ts';
import { TooManyAttemptsError } from '../../../src/domain/auth/errors.ts';
import { createProofLedger } from '../../../src/domain/auth/proof.ts';
import { createProofTrials } from '../../../src/domain/auth/proof-trials.ts';
import { createQueue } from '../../../src/domain/auth/queue.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
import { createTestLimiter, limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';

const REFUSED = new GatewayError('unauthenticated', 'getSession', 'refused', { status: 401 });

/** An address where so many tokens may be refused in a minute, with five calls each. */
function stage(perMinute = 3, shared?: SharedKeys) {
  const clock = createScriptedClock();
  const known = createKnownKeys(clock, 3_600_000, shared);
  const limiter = createTestLimiter(limited('trials', 5 * perMinute), clock);
  const ledger = createProofLedger({ clock, logicalClock: new LogicalClock(), proofMs: 0 });
  const trials = createProofTrials(clock, limiter, known, ledger);
  let calls = 0;
  const refused = (viewer: Viewer) =>
    trials.guard(viewer, 'getSession', async () => {
      calls += 1;
      throw REFUSED;
    });
  const accepted = (viewer: Viewer) => trials.guard(viewer, 'getSession', async () => 'fine');
  /** A call that the gateway answers when the test says so. */
  const hang = (viewer: Viewer) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let isSent = false;
    const done = trials.guard(viewer, 'getSession', () => {
      isSent = true;
      return promise;
    });
    // A test that ends while calls are under way leaves none unhandled.
    done.catch(() => {});
    return {
      get isSent() {
        return isSent;
      },
      answer: () => resolve('fine'),
      refuse: () => reject(REFUSED),
      done,
    };
  };
  return { clock, known, ledger, limiter, refused, accepted, hang, calls: () => calls };
}

function viewer(token: string, address = '192.0.2.1'): Viewer {
  return viewerOf(token, { client: { address, userAgent: null } });
}

test('a refused token may be used again as soon as the gateway has accepted it', async () => {
  const { ledger, refused, accepted } = stage();
  await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
  await expect(refused(viewer('b'))).rejects.toBe(REFUSED);
  ledger.answered(viewer('a'), 'getSession', ledger.beginCall(), null);
  expect(await accepted(viewer('a'))).toBe('fine');
  await expect(accepted(viewer('b'))).rejects.toMatchObject({ kind: 'unauthenticated' });
});

describe('an address', () => {
  test('gets nothing back for calls of known and of refused tokens, which it was not charged for', async () => {
    const { known, limiter, refused, accepted } = stage(3);
    const left = () => limiter.take('trials', addressClient('192.0.2.1'), 0).left;
    await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
    const before = left();
    known.add(toToken('b').hash);
    expect(await accepted(viewer('b'))).toBe('fine');
    await expect(refused(viewer('a'))).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(left()).toBe(before);
  });

  test('with many refused tokens has another one tried every so often, and others are not affected', async () => {
    const { clock, refused, accepted, calls } = stage(3);
    for (const token of ['a', 'b', 'c']) {
      await expect(refused(viewer(token))).rejects.toBe(REFUSED);
    }
    // The clock stands still: nobody waits where no call is under way that could make room.
    await expect(refused(viewer('d'))).rejects.toBeInstanceOf(TooManyAttemptsError);
    expect(calls()).toBe(3);
    expect(await accepted(viewer('d', '192.0.2.2'))).toBe('fine');
    await clock.advance(20_000);
    expect(await accepted(viewer('d'))).toBe('fine');
  });

  test('has no more calls under way than five for each that may be refused; another waits for its turn, two seconds at most', async () => {
    const { clock, hang } = stage(1);
    const calls = ['a', 'a', 'b', 'c', 'd'].map((token) => hang(viewer(token)));
    const [sixth, seventh] = [hang(viewer('e')), hang(viewer('f'))];
    expect([calls[4]?.isSent, sixth.isSent]).toEqual([true, false]);
    await clock.advance(1_000);
    expect(sixth.isSent).toBe(false);
    calls[0]?.answer();
    await calls[0]?.done;
    await clock.advance(40);
    expect([sixth.isSent, seventh.isSent]).toEqual([true, false]);
    const refused = seventh.done.catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await refused).toMatchObject({ retryAfterSeconds: 1, limit: 'refused tokens' });
    expect(seventh.isSent).toBe(false);
    for (const call of [...calls, sixth]) call.answer();
    await Promise.all([...calls, sixth].map(({ done }) => done));
    expect(clock.pending).toBe(0);
  });
});

test('a token that no replica knows is charged for when it has waited, and one that another knows is not', async () => {
  const known = new Set([toToken('elsewhere').hash]);
  const shared = { add() {}, delete() {}, has: async (hash: string) => known.has(hash) };
  const { clock, limiter, hang } = stage(1, shared);
  const left = () => limiter.take('trials', addressClient('192.0.2.1'), 0).left;
  const calls = ['a', 'a', 'b', 'c', 'd'].map((token) => hang(viewer(token)));
  const [elsewhere, unknown] = [hang(viewer('elsewhere')), hang(viewer('e'))];
  await clock.advance(40);
  expect([elsewhere.isSent, unknown.isSent]).toEqual([true, false]);
  calls[0]?.answer();
  await clock.advance(40);
  expect(unknown.isSent).toBe(true);
  expect(left()).toBeLessThan(1);
  for (const call of [...calls, elsewhere, unknown]) call.answer();
  await Promise.all([...calls, elsewhere, unknown].map(({ done }) => done));
});

test('a token that is not accepted yet sends nothing that has waited once it is refused', async () => {
  const { clock, hang } = stage(3);
  const calls = [1, 2, 3, 4, 5, 6].map(() => hang(viewer('a')));
  calls[0]?.refuse();
  const last = calls[5]?.done.catch((error: unknown) => error);
  await clock.advance(40);
  expect(await last).toMatchObject({ kind: 'unauthenticated', status: null });
  expect(calls[5]?.isSent).toBe(false);
  for (const call of calls) call.answer();
  await Promise.allSettled(calls.map(({ done }) => done));
});

describe('in the queue of those who wait', () => {
  test('one that nobody waits for leaves at once, and keeps nobody behind it', async () => {
    const clock = createScriptedClock();
    const queue = createQueue(clock, 2_000);
    let hasRoom = false;
    const wait = (signal: AbortSignal) => queue.wait('x', () => hasRoom, signal);
    const [leaving, staying] = [new AbortController(), new AbortController()];
    const gone = wait(leaving.signal);
    const next = wait(staying.signal);
    expect(await wait(AbortSignal.abort())).toBe(false);
    leaving.abort();
    expect(await gone).toBe(false);
    hasRoom = true;
    queue.wake('x');
    expect(await next).toBe(true);
    expect(getEventListeners(staying.signal, 'abort')).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('a line holds a thousand, and all together ten thousand', async () => {
    const clock = createScriptedClock();
    const queue = createQueue(clock, 2_000);
    const ended: string[] = [];
    const wait = (key: string, name: string) =>
      void queue.wait(key, () => false).then(() => ended.push(name));
    for (let line = 0; line < 10; line += 1) {
      for (let at = 0; at < 1_000; at += 1) wait(String(line), '');
      if (line === 0) wait('0', 'too many of a line');
    }
    wait('another', 'too many in all');
    await clock.advance(0);
    expect(ended).toEqual(['too many of a line', 'too many in all']);
    await clock.advance(2_000);
    wait('another', 'later');
    await clock.advance(0);
    expect(ended).not.toContain('later');
  });
});
