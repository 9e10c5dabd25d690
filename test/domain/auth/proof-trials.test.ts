import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { LogicalClock } from '../../../lib/clock.ts';
import { addressClient } from '../../../lib/limits/client.ts';
import { createKnownKeys, type SharedKeys } from '../../../lib/limits/known-keys.ts';
import { toToken } from '../../../lib/token.ts';
import { createProofLedger } from '../../../src/domain/auth/proof.ts';
import { createProofTrials } from '../../../src/domain/auth/proof-trials.ts';
import { createTrialTurns, type Trial } from '../../../src/domain/auth/trial-turns.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { createTestLimiter, limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { type Details, viewerOf } from '../viewer.ts';

const REFUSED = new GatewayError('unauthenticated', 'getSession', 'refused', { status: 401 });

/** An address where so many calls may be refused before they go by turns, one every 250 ms for each. */
function stage(max = 15, shared?: SharedKeys) {
  const clock = createScriptedClock();
  const known = createKnownKeys(clock, 3_600_000, shared);
  const proved = createKnownKeys(clock, 3_600_000);
  const limiter = createTestLimiter(limited('trials', max), clock);
  const ledger = createProofLedger({ clock, logicalClock: new LogicalClock(), proofMs: 0 });
  const trials = createProofTrials({ clock, limiter, known, proved, ledger });
  let calls = 0;
  const refused = (viewer: Viewer) =>
    trials.guard(viewer, 'getSession', async () => {
      calls += 1;
      throw REFUSED;
    });
  const accepted = (viewer: Viewer) => trials.guard(viewer, 'getSession', async () => 'fine');
  /** A call that the gateway answers when the test says so. */
  const hang = (viewer: Viewer, operation: OperationName = 'getSession') => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const sending = Promise.withResolvers<void>();
    let isSent = false;
    const done = trials.guard(viewer, operation, () => {
      isSent = true;
      sending.resolve();
      return promise;
    });
    // A test that ends while calls are under way leaves none unhandled.
    done.catch(() => {});
    return {
      get isSent() {
        return isSent;
      },
      sent: sending.promise,
      answer: () => resolve('fine'),
      refuse: () => reject(REFUSED),
      done,
    };
  };
  return { clock, known, ledger, limiter, trials, refused, accepted, hang, calls: () => calls };
}

function viewer(
  token: string,
  { address = '192.0.2.1', ...details }: Details & Address = {},
): Viewer {
  return viewerOf(token, { client: { address, userAgent: null }, ...details });
}

interface Address {
  readonly address?: string;
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
    const { known, limiter, refused, accepted } = stage(15);
    const left = () => limiter.take('trials', addressClient('192.0.2.1'), 0).left;
    await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
    const before = left();
    known.add(toToken('b').hash);
    expect(await accepted(viewer('b'))).toBe('fine');
    await expect(refused(viewer('a'))).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(left()).toBe(before);
  });

  test('where many tokens were refused has others tried by turns at a bounded pace, and other addresses are not affected', async () => {
    const { clock, refused, accepted, hang, calls } = stage(3);
    for (const token of ['a', 'b', 'c']) {
      await expect(refused(viewer(token))).rejects.toBe(REFUSED);
    }
    const [older, newer] = [hang(viewer('d', { login: '1' })), hang(viewer('e', { login: '2' }))];
    expect(await accepted(viewer('f', { address: '192.0.2.2' }))).toBe('fine');
    // Three calls, four times a minute.
    await clock.advance(5_000);
    expect([calls(), newer.isSent, older.isSent]).toEqual([3, false, false]);
    await expect(newer.done).rejects.toMatchObject({
      retryAfterSeconds: 1,
      limit: 'refused tokens',
    });
    const [first, second] = [hang(viewer('g', { login: '3' })), hang(viewer('h', { login: '4' }))];
    expect([first.isSent, second.isSent]).toEqual([true, false]);
    first.answer();
    second.answer();
    await Promise.all([first.done, second.done]);
    expect(clock.pending).toBe(0);
  });

  test('tries each login once a round, those that were proved there every other time, and refused tokens last', async () => {
    const { clock, ledger, trials, refused, hang } = stage(240);
    const regular = viewer('before', { login: '7' });
    ledger.answered(regular, 'getSession', ledger.beginCall(), null);
    trials.accepted(regular);
    for (let token = 0; token < 240; token += 1) {
      await expect(refused(viewer(`x${token}`, { login: String(token + 10) }))).rejects.toBe(
        REFUSED,
      );
    }
    const order: string[] = [];
    const wait = (name: string, login: string, operation?: OperationName) =>
      void hang(viewer(name, { login }), operation).sent.then(() => order.push(name));
    wait('x0', '10', 'setValue');
    for (const at of [1, 2, 3]) wait(`of a neighbour ${at}`, '7');
    wait('new', '8');
    for (const at of [1, 2, 3]) wait(`forged ${at}`, '9');
    await clock.advance(1_000);
    expect(order).toEqual([
      'of a neighbour 3',
      'forged 3',
      'new',
      'forged 1',
      'of a neighbour 2',
      'forged 2',
      'of a neighbour 1',
      'x0',
    ]);
  });

  test('has no more calls under way than may be refused; another goes when one of them has ended well, or the time has come', async () => {
    const { clock, hang } = stage(5);
    const calls = ['a', 'a', 'b', 'c', 'd'].map((token) => hang(viewer(token)));
    const [sixth, seventh] = [hang(viewer('e')), hang(viewer('f'))];
    expect([calls[4]?.isSent, sixth.isSent]).toEqual([true, false]);
    await clock.advance(1_000);
    expect([sixth.isSent, seventh.isSent]).toEqual([false, false]);
    calls[0]?.answer();
    await calls[0]?.done;
    await clock.advance(40);
    expect([sixth.isSent, seventh.isSent]).toEqual([false, true]);
    for (const call of [...calls, sixth, seventh]) call.answer();
    await Promise.all([...calls, sixth, seventh].map(({ done }) => done));
    expect(clock.pending).toBe(0);
  });
});

test('a token that no replica knows is charged for when it has waited, and one that another knows is not', async () => {
  const known = new Set([toToken('elsewhere').hash]);
  const shared = { add() {}, delete() {}, has: async (hash: string) => known.has(hash) };
  const { clock, limiter, hang } = stage(5, shared);
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
  const { clock, hang } = stage();
  const calls = [1, 2, 3, 4, 5, 6].map(() => hang(viewer('a')));
  calls[0]?.refuse();
  const last = calls[5]?.done.catch((error: unknown) => error);
  await clock.advance(40);
  expect(await last).toMatchObject({ kind: 'unauthenticated', status: null });
  expect(calls[5]?.isSent).toBe(false);
  for (const call of calls) call.answer();
  await Promise.allSettled(calls.map(({ done }) => done));
});

describe('among those who wait for a turn', () => {
  function turnsFor() {
    const clock = createScriptedClock();
    let hasRoom = false;
    const trial = (login = '1'): Trial => ({
      login,
      rank: () => 'new',
      isFree: () => false,
      begin: () => hasRoom,
      roomInMs: () => 60_000,
    });
    const open = () => {
      hasRoom = true;
    };
    return { clock, trial, open, turns: createTrialTurns(clock, 2_000) };
  }

  test('one that nobody waits for leaves at once, and keeps nobody behind it', async () => {
    const { clock, turns, trial, open } = turnsFor();
    const [leaving, staying] = [new AbortController(), new AbortController()];
    const gone = turns.wait('x', trial(), leaving.signal);
    const next = turns.wait('x', trial(), staying.signal);
    expect(await turns.wait('x', trial(), AbortSignal.abort())).toBe(false);
    leaving.abort();
    expect(await gone).toBe(false);
    open();
    turns.wake('x');
    expect(await next).toBe(true);
    expect(getEventListeners(staying.signal, 'abort')).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test('one that needs no turn any more goes at once', async () => {
    const { turns, trial } = turnsFor();
    let isFree = false;
    const waiting = turns.wait('x', { ...trial(), isFree: () => isFree });
    isFree = true;
    turns.wake('x');
    expect(await waiting).toBe(true);
  });

  test('a line holds a thousand, of which the oldest goes, and all together ten thousand, beside the first of an address', async () => {
    const { clock, turns, trial } = turnsFor();
    const ended: string[] = [];
    const wait = (key: string, name: string) =>
      void turns.wait(key, trial()).then(() => ended.push(name));
    for (let line = 0; line < 10; line += 1) {
      for (let at = 0; at < 1_000; at += 1) wait(String(line), `${line} ${at}`);
      if (line === 0) wait('0', 'one more');
    }
    wait('another', 'the first');
    wait('another', 'too many in all');
    await clock.advance(0);
    expect(ended).toEqual(['0 0', 'too many in all']);
    await clock.advance(2_000);
    expect(ended).toHaveLength(10_003);
    expect(clock.pending).toBe(0);
  });
});
