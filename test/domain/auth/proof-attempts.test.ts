import { describe, expect, test } from 'vitest';
import { TooManyAttemptsError } from '../../../src/domain/auth/errors.ts';
import { ProofAttempts } from '../../../src/domain/auth/proof-attempts.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
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
  return { clock, attempts, refused, accepted, calls: () => calls };
}

function viewer(tokenHash: string, address = '192.0.2.1'): Viewer {
  return {
    caller: { token: 'x', client: { address, userAgent: null } },
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

  test('has no more tokens in flight at a time than may be refused', async () => {
    const { attempts } = stage(3);
    const answers: ((value: string) => void)[] = [];
    const underWay = ['a', 'b', 'c'].map((token) =>
      attempts.guard(
        viewer(token),
        'getSession',
        () => new Promise<string>((resolve) => answers.push(resolve)),
      ),
    );
    const another = () => attempts.guard(viewer('d'), 'getSession', async () => 'fine');
    await expect(another()).rejects.toMatchObject({ retryAfterSeconds: 1 });
    for (const answer of answers) answer('fine');
    await Promise.all(underWay);
    expect(await another()).toBe('fine');
  });
});
