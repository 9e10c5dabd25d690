import { describe, expect, test } from 'vitest';
import { TooManyAttemptsError } from '../../../src/domain/auth/errors.ts';
import { ProofAttempts } from '../../../src/domain/auth/proof-attempts.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const REFUSED = new GatewayError('unauthenticated', 'getSession', 'refused', { status: 401 });

function stage(perMinute = 3) {
  const clock = createScriptedClock();
  const attempts = new ProofAttempts({ clock, perMinute });
  let calls = 0;
  const refused = (viewer: Viewer) =>
    attempts.guard(viewer, 'getSession', async () => {
      calls += 1;
      throw REFUSED;
    });
  const accepted = (viewer: Viewer) => attempts.guard(viewer, 'getSession', async () => 'fine');
  /** A call that the gateway answers when the test says so. */
  const hang = (viewer: Viewer, operation: OperationName = 'getSession') => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let isSent = false;
    const done = attempts.guard(viewer, operation, () => {
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
  return { clock, attempts, refused, accepted, hang, calls: () => calls };
}

function viewer(tokenHash: string, address = '192.0.2.1', signal?: AbortSignal): Viewer {
  return {
    caller: { token: 'x', client: { address, userAgent: null }, ...(signal && { signal }) },
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

  test.each(['getAllTickers', 'getSession', 'getWithdrawalMethods', 'getOpenPositions'] as const)(
    'is refused for %s as well, which proves tokens as the read does that refused it',
    async (operation) => {
      const { attempts } = stage();
      const refusal = attempts.guard(viewer('a'), 'getCustomerId', () => Promise.reject(REFUSED));
      await expect(refusal).rejects.toBe(REFUSED);
      const other = attempts.guard(viewer('a'), operation, async () => 'fine');
      await expect(other).rejects.toMatchObject({ kind: 'unauthenticated', operation });
    },
  );

  test('is refused by a write for that write alone', async () => {
    const { attempts } = stage();
    const refused = () =>
      attempts.guard(viewer('a'), 'addCryptoWallet', () => Promise.reject(REFUSED));
    await expect(refused()).rejects.toBe(REFUSED);
    const again = await refused().catch((error: unknown) => error);
    expect(again).not.toBe(REFUSED);
    expect(again).toMatchObject({ kind: 'unauthenticated', operation: 'addCryptoWallet' });
    for (const operation of ['setValue', 'markNotificationsRead', 'getSession'] as const) {
      expect(await attempts.guard(viewer('a'), operation, async () => 'fine')).toBe('fine');
    }
  });

  test('may be used again as soon as the gateway has accepted it', async () => {
    const { attempts, refused, accepted } = stage();
    await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
    await expect(refused(viewer('b'))).rejects.toBe(REFUSED);
    attempts.accepted(viewer('a'));
    expect(await accepted(viewer('a'))).toBe('fine');
    await expect(accepted(viewer('b'))).rejects.toMatchObject({ kind: 'unauthenticated' });
  });
});

describe('an address', () => {
  test('with too many refused tokens waits for its minute to end', async () => {
    const { clock, refused, accepted, calls } = stage(3);
    for (const token of ['a', 'b', 'c']) {
      await expect(refused(viewer(token))).rejects.toBe(REFUSED);
      await clock.advance(10_000);
    }
    const error = await refused(viewer('d')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TooManyAttemptsError);
    expect(error).toMatchObject({ retryAfterSeconds: 30 });
    expect(calls()).toBe(3);
    expect(await accepted(viewer('d', '192.0.2.2'))).toBe('fine');
    await clock.advance(30_000);
    expect(await accepted(viewer('d'))).toBe('fine');
  });

  test('is the whole /64 of an IPv6 client', async () => {
    const { refused } = stage(3);
    for (const host of ['1', '2', '3']) {
      await expect(refused(viewer(host, `2001:db8:0:1::${host}`))).rejects.toBe(REFUSED);
    }
    const neighbour = refused(viewer('4', '2001:db8:0:1:aaaa::4'));
    await expect(neighbour).rejects.toBeInstanceOf(TooManyAttemptsError);
    await expect(refused(viewer('5', '2001:db8:0:2::5'))).rejects.toBe(REFUSED);
  });

  test('is charged once for one token’s several calls', async () => {
    const { attempts, accepted } = stage(3);
    const calls = (['getSession', 'getCustomerId', 'getWithdrawalMethods'] as const).map((name) =>
      attempts.guard(viewer('a'), name, () => Promise.reject(REFUSED)),
    );
    await Promise.allSettled(calls);
    expect(await accepted(viewer('b'))).toBe('fine');
  });

  test('is not charged for an accepted call, or one that fails for another reason', async () => {
    const { attempts, accepted } = stage(3);
    const down = new GatewayError('unavailable', 'getSession', 'down');
    for (let at = 0; at < 10; at += 1) {
      expect(await accepted(viewer(`a${at}`))).toBe('fine');
      const failing = attempts.guard(viewer(`b${at}`), 'getSession', () => Promise.reject(down));
      await expect(failing).rejects.toBe(down);
    }
  });

  test('has no more tokens tried at a time than may be refused; another waits for its turn', async () => {
    const { attempts, hang } = stage(3);
    const [first, second, third] = ['a', 'b', 'c'].map((token) => hang(viewer(token)));
    const fourth = hang(viewer('d'));
    const fifth = hang(viewer('e'));
    expect([third?.isSent, fourth.isSent]).toEqual([true, false]);
    // Each token of the three is one, however many of its calls are under way.
    const beside = hang(viewer('a'), 'getCustomerId');
    expect(beside.isSent).toBe(true);
    first?.answer();
    await first?.done;
    expect([fourth.isSent, fifth.isSent]).toEqual([false, false]);
    beside.answer();
    await eventually(() => fourth.isSent);
    expect(fifth.isSent).toBe(false);
    attempts.accepted(viewer('b'));
    await eventually(() => fifth.isSent);
    for (const call of [second, third, fourth, fifth]) call?.answer();
    await Promise.all([second?.done, third?.done, fourth.done, fifth.done]);
  });

  test('refuses a token whose turn does not come within two seconds', async () => {
    const { clock, hang, accepted } = stage(1);
    const only = hang(viewer('a'));
    const late = hang(viewer('b'));
    const failed = late.done.catch((error: unknown) => error);
    await clock.advance(1_999);
    const later = hang(viewer('c'));
    await clock.advance(1);
    expect(await failed).toMatchObject({ retryAfterSeconds: 1, limit: 'refused tokens' });
    expect(late.isSent).toBe(false);
    only.answer();
    await eventually(() => later.isSent);
    later.answer();
    await later.done;
    expect(await accepted(viewer('b'))).toBe('fine');
    expect(clock.pending).toBe(0);
  });

  test('refuses at once those who wait when its tokens have been refused', async () => {
    const { attempts, hang } = stage(1);
    const forged = hang(viewer('a'));
    const waiting = hang(viewer('b'));
    forged.refuse();
    await expect(forged.done).rejects.toBe(REFUSED);
    await expect(waiting.done).rejects.toMatchObject({ retryAfterSeconds: 60 });
    expect(waiting.isSent).toBe(false);
    const another = attempts.guard(viewer('c'), 'getSession', async () => 'fine');
    await expect(another).rejects.toMatchObject({ retryAfterSeconds: 60 });
  });

  test('tries those who wait when its minute is over', async () => {
    const { clock, refused, hang } = stage(2);
    await expect(refused(viewer('a'))).rejects.toBe(REFUSED);
    await clock.advance(59_000);
    const first = hang(viewer('b'));
    const second = hang(viewer('c'));
    await clock.advance(1_000);
    expect(second.isSent).toBe(false);
    const third = hang(viewer('d'));
    await eventually(() => second.isSent);
    expect(third.isSent).toBe(false);
    for (const call of [first, second, third]) call.answer();
    await Promise.all([first.done, second.done, third.done]);
  });

  test('lets 500 screens of five calls wait, and others beside them', async () => {
    const { hang } = stage(1);
    const calls = [hang(viewer('a'))];
    const screen = (token: string) => [1, 2, 3, 4, 5].map(() => hang(viewer(token)));
    for (let at = 0; at < 500; at += 1) calls.push(...screen(`b${at}`));
    const refusal = { retryAfterSeconds: 1 };
    await expect(hang(viewer('c')).done).rejects.toMatchObject(refusal);
    // A sixth call would be the first of another screen.
    await expect(hang(viewer('b7')).done).rejects.toMatchObject(refusal);
    expect(hang(viewer('d', '192.0.2.2')).isSent).toBe(true);
    for (const call of calls) call.answer();
    await Promise.all(calls.map(({ done }) => done));
    expect(hang(viewer('e')).isSent).toBe(true);
  });

  test('shares 5,000 waiting screens with all addresses', async () => {
    const { hang } = stage(1);
    const waiting = [];
    for (let address = 1; address <= 10; address += 1) {
      const at = `192.0.2.${address}`;
      for (let n = 0; n <= 500; n += 1) waiting.push(hang(viewer(`a${address}-${n}`, at)));
    }
    const first = hang(viewer('a', '192.0.2.99'));
    expect(first.isSent).toBe(true);
    await expect(hang(viewer('b', '192.0.2.99')).done).rejects.toMatchObject({
      retryAfterSeconds: 1,
    });
    for (const call of waiting) call.answer();
    await Promise.all(waiting.map(({ done }) => done));
    // Their places are free again.
    const next = hang(viewer('b', '192.0.2.99'));
    first.answer();
    await eventually(() => next.isSent);
    next.answer();
    await Promise.all([first.done, next.done]);
  });
});

describe('a token that is not accepted yet', () => {
  test('has five calls at a time; the sixth goes when one is answered', async () => {
    const { hang } = stage(3);
    const calls = [1, 2, 3, 4, 5, 6, 7].map(() => hang(viewer('a')));
    const sent = calls.map(({ isSent }) => isSent);
    expect(sent).toEqual([true, true, true, true, true, false, false]);
    calls[0]?.answer();
    await eventually(() => calls[5]?.isSent === true);
    expect(calls[6]?.isSent).toBe(false);
    for (const call of calls) call.answer();
    await Promise.all(calls.map(({ done }) => done));
  });

  test('has no turns to wait for once it is accepted', async () => {
    const { attempts, hang } = stage(1);
    const calls = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(() => hang(viewer('a')));
    const other = hang(viewer('b'));
    attempts.accepted(viewer('a'));
    await eventually(() => calls.every(({ isSent }) => isSent) && other.isSent);
    // The calls of before leave the place to the token that has it now.
    calls[0]?.answer();
    await calls[0]?.done;
    const third = hang(viewer('c'));
    expect(third.isSent).toBe(false);
    for (const call of [...calls, other, third]) call.answer();
    await Promise.all([...calls, other, third].map(({ done }) => done));
  });

  test('sends nothing that has waited once it is refused', async () => {
    const { hang } = stage(3);
    const calls = [1, 2, 3, 4, 5, 6].map(() => hang(viewer('a')));
    calls[0]?.refuse();
    await expect(calls[5]?.done).rejects.toMatchObject({ kind: 'unauthenticated', status: null });
    expect(calls[5]?.isSent).toBe(false);
    for (const call of calls) call.answer();
    await Promise.allSettled(calls.map(({ done }) => done));
  });

  test('gives its turn up when its client leaves', async () => {
    const { clock, hang } = stage(1);
    const only = hang(viewer('a'));
    const controller = new AbortController();
    const gone = hang(viewer('b', '192.0.2.1', controller.signal));
    const next = hang(viewer('c'));
    controller.abort();
    await expect(gone.done).rejects.toBeInstanceOf(TooManyAttemptsError);
    only.answer();
    await eventually(() => next.isSent);
    expect(gone.isSent).toBe(false);
    next.answer();
    await next.done;
    expect(clock.pending).toBe(0);
  });
});
