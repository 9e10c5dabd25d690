import { describe, expect, test } from 'vitest';
import { TooManyAttemptsError } from '../../../src/domain/auth/errors.ts';
import { createProofTrials } from '../../../src/domain/auth/proof-trials.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { addressClient } from '../../../src/lib/limits/client.ts';
import { createKnownKeys } from '../../../src/lib/limits/known-keys.ts';
import { toToken } from '../../../src/lib/token.ts';
import { createTestLimiter, limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const REFUSED = new GatewayError('unauthenticated', 'getSession', 'refused', { status: 401 });

/** An address where so many tokens may be refused in a minute, with five calls each. */
function stage(perMinute = 3, others: readonly string[] = []) {
  const clock = createScriptedClock();
  const known = createKnownKeys(clock, 3_600_000, {
    add() {},
    delete() {},
    has: async (key) => others.includes(key),
  });
  const accepting = new Set<string>();
  const limiter = createTestLimiter(limited('trials', 5 * perMinute), clock);
  const trials = createProofTrials(clock, limiter, known, {
    isAccepted: ({ tokenHash }) => accepting.has(tokenHash),
  });
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
    let isSent = false;
    const done = trials.guard(viewer, operation, () => {
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
  return { clock, known, trials, accepting, limiter, refused, accepted, hang, calls: () => calls };
}

function viewer(tokenHash: string, address = '192.0.2.1', signal?: AbortSignal): Viewer {
  return {
    caller: {
      token: toToken('x'),
      client: { address, userAgent: null },
      ...(signal && { signal }),
    },
    tokenHash,
    login: '1',
    claimedGroup: null,
    expiresAtMs: null,
  };
}

describe('a refused token', () => {
  test('is refused from memory for a moment, then sent to the gateway again', async () => {
    const { clock, refused, calls } = stage();
    await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
    await expect(refused(viewer('a'))).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(calls()).toBe(1);
    await clock.advance(5_000);
    await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
    expect(calls()).toBe(2);
  });

  test('is refused by a write for that write alone', async () => {
    const { trials } = stage();
    const refused = () =>
      trials.guard(viewer('a'), 'addCryptoWallet', () => Promise.reject(REFUSED));
    await expect(refused()).rejects.toBe(REFUSED);
    const again = await refused().catch((error: unknown) => error);
    expect(again).not.toBe(REFUSED);
    expect(again).toMatchObject({ kind: 'unauthenticated', operation: 'addCryptoWallet' });
    for (const operation of ['setValue', 'markNotificationsRead', 'getSession'] as const) {
      expect(await trials.guard(viewer('a'), operation, async () => 'fine')).toBe('fine');
    }
  });

  test('may be used again as soon as the gateway has accepted it', async () => {
    const { trials, refused, accepted } = stage();
    await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
    await expect(refused(viewer('b'))).rejects.toBe(REFUSED);
    trials.accepted(viewer('a'));
    expect(await accepted(viewer('a'))).toBe('fine');
    await expect(accepted(viewer('b'))).rejects.toMatchObject({ kind: 'unauthenticated' });
  });
});

describe('an address', () => {
  /** How the call ends, once it has waited as long as it may. */
  async function ended(clock: ReturnType<typeof createScriptedClock>, call: Promise<unknown>) {
    const end = call.catch((error: unknown) => error);
    await clock.advance(2_100);
    return end;
  }

  test('gets nothing back for calls of known tokens, which it was not charged for', async () => {
    const { known, limiter, refused, accepted } = stage(3);
    const left = () => limiter.take('trials', addressClient('192.0.2.1'), 0).left;
    await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
    const before = left();
    known.add('b');
    expect(await accepted(viewer('b'))).toBe('fine');
    expect(left()).toBe(before);
  });

  test('with many refused tokens has another one tried every so often, and others are not affected', async () => {
    const { clock, refused, accepted, calls } = stage(3);
    for (const token of ['a', 'b', 'c']) {
      await expect(refused(viewer(token))).rejects.toBe(REFUSED);
    }
    expect(await ended(clock, refused(viewer('d')))).toBeInstanceOf(TooManyAttemptsError);
    expect(calls()).toBe(3);
    expect(await accepted(viewer('d', '192.0.2.2'))).toBe('fine');
    await clock.advance(20_000);
    expect(await accepted(viewer('d'))).toBe('fine');
  });

  test('is not charged for an accepted call, or one that fails for another reason', async () => {
    const { trials, accepted } = stage(3);
    const down = new GatewayError('unavailable', 'getSession', 'down');
    for (let at = 0; at < 10; at += 1) {
      expect(await accepted(viewer(`a${at}`))).toBe('fine');
      const failing = trials.guard(viewer(`b${at}`), 'getSession', () => Promise.reject(down));
      await expect(failing).rejects.toBe(down);
    }
  });

  test('has no more calls under way than five for each that may be refused; another waits for its turn', async () => {
    const { clock, hang } = stage(1);
    const calls = ['a', 'a', 'b', 'c', 'd'].map((token) => hang(viewer(token)));
    const [sixth, seventh] = [hang(viewer('e')), hang(viewer('f'))];
    expect([calls[4]?.isSent, sixth.isSent]).toEqual([true, false]);
    await clock.advance(40);
    expect(sixth.isSent).toBe(false);
    calls[0]?.answer();
    await calls[0]?.done;
    await clock.advance(40);
    expect([sixth.isSent, seventh.isSent]).toEqual([true, false]);
    for (const call of [...calls, sixth]) call.answer();
    await clock.advance(40);
    seventh.answer();
    await Promise.all([...calls, sixth, seventh].map(({ done }) => done));
    expect(clock.pending).toBe(0);
  });

  test('refuses a token whose turn does not come within two seconds', async () => {
    const { clock, hang } = stage(1);
    const all = [1, 2, 3, 4, 5].map(() => hang(viewer('a')));
    const late = hang(viewer('b'));
    expect(await ended(clock, late.done)).toMatchObject({
      retryAfterSeconds: 1,
      limit: 'refused tokens',
    });
    expect(late.isSent).toBe(false);
    for (const call of all) call.answer();
    await Promise.all(all.map(({ done }) => done));
    expect(clock.pending).toBe(0);
  });
});

describe('a known token', () => {
  test.each([
    ['accepted before', () => stage(1), true],
    ['known to another replica', () => stage(1, ['known']), false],
  ])('needs no turn: %s', async (_how, open, isOurs) => {
    const { trials, refused, accepted } = open();
    if (isOurs) trials.accepted(viewer('known'));
    await expect(refused(viewer('forged'))).rejects.toBe(REFUSED);
    expect(await accepted(viewer('known'))).toBe('fine');
    // Nor does it take one from another.
    expect(await accepted(viewer('known'))).toBe('fine');
  });

  test('is as good as a forged one once it is refused', async () => {
    const { clock, trials, refused, hang } = stage(1);
    trials.accepted(viewer('known'));
    await expect(refused(viewer('known'))).rejects.toBe(REFUSED);
    trials.refused(viewer('known'));
    // Its own refusal was charged to nobody.
    await expect(refused(viewer('forged'))).rejects.toBe(REFUSED);
    await clock.advance(5_000);
    const again = hang(viewer('known'));
    const end = again.done.catch((error: unknown) => error);
    await clock.advance(2_100);
    expect(await end).toBeInstanceOf(TooManyAttemptsError);
  });
});

describe('a token that is not accepted yet', () => {
  test('has five calls at a time', async () => {
    const { clock, hang } = stage(3);
    const calls = [1, 2, 3, 4, 5, 6, 7].map(() => hang(viewer('a')));
    const sent = () => calls.filter(({ isSent }) => isSent).length;
    await clock.advance(40);
    expect(sent()).toBe(5);
    calls[0]?.answer();
    await calls[0]?.done;
    await clock.advance(40);
    expect(sent()).toBe(6);
    for (const call of calls) call.answer();
    await clock.advance(40);
    await Promise.all(calls.map(({ done }) => done));
  });

  test('has as many as it likes once it is accepted', async () => {
    const { clock, accepting, limiter, trials, hang } = stage(1);
    const calls = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(() => hang(viewer('a')));
    await clock.advance(40);
    expect(calls.filter(({ isSent }) => isSent)).toHaveLength(5);
    accepting.add('a');
    trials.accepted(viewer('a'));
    await clock.advance(40);
    expect(calls.every(({ isSent }) => isSent)).toBe(true);
    for (const call of calls) call.answer();
    await Promise.all(calls.map(({ done }) => done));
    expect(limiter.take('trials', addressClient('192.0.2.1'), 0).left).toBe(5);
  });

  test('sends nothing that has waited once it is refused', async () => {
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
});
