import { describe, expect, test } from 'vitest';
import { ProofLedger } from '../../../src/domain/auth/proof.ts';
import { UnknownTokens } from '../../../src/domain/auth/unknown-tokens.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { addressClient } from '../../../src/lib/limits/client.ts';
import { KnownKeys, type SharedKeys } from '../../../src/lib/limits/known-keys.ts';
import { toToken } from '../../../src/lib/token.ts';
import { createTestLimiter } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';

const PROOFS = 60;
const HERE = '192.0.2.1';
const error = (kind: 'unauthenticated' | 'forbidden' | 'unavailable', status: number | null) =>
  new GatewayError(kind, 'getSession', 'no', { status });
const REFUSED = error('unauthenticated', 401);

function setUp(shared?: SharedKeys) {
  const clock = createScriptedClock();
  const limiter = createTestLimiter({}, clock);
  const known = new KnownKeys(clock, 3_600_000, shared);
  const ledger = new ProofLedger({ clock, logicalClock: new LogicalClock(), proofMs: 60_000 });
  const guard = new UnknownTokens({ limiter, known, ledger });
  let calls = 0;
  /** Begins a guarded call. The test ends it with `accept` or `fail`. */
  const begin = (token: string, address = HERE) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const viewer = viewerOf(token, { client: { address, userAgent: null } });
    const done = guard.guard(viewer, () => {
      calls += 1;
      return promise;
    });
    // Some calls are refused before they are sent, or are still under way at the end of a test.
    for (const each of [promise, done]) each.catch(() => {});
    return { viewer, done, accept: () => resolve('fine'), fail: reject };
  };
  /** Ends a call, and returns its answer, or the kind or limit of its error. */
  const ended = async (call: ReturnType<typeof begin>, by: 'accept' | GatewayError) => {
    if (by === 'accept') call.accept();
    else call.fail(by);
    return call.done.catch(({ kind, limit }) => kind ?? limit);
  };
  const refuse = async (token: string, address?: string) => ended(begin(token, address), REFUSED);
  const left = (address = HERE) => limiter.take('proofs', addressClient(address), 0).left;
  return { clock, limiter, known, ledger, guard, begin, ended, refuse, left, calls: () => calls };
}

describe('an unknown token', () => {
  test('costs its address one of sixty proofs a minute if it is refused, and other addresses nothing', async () => {
    const { clock, refuse, calls, begin, ended } = setUp();
    for (let at = 0; at < PROOFS; at += 1) expect(await refuse(`${at}`)).toBe('unauthenticated');
    const late = await begin('one more').done.catch((reason: unknown) => reason);
    expect(late).toMatchObject({ limit: 'unknown tokens', retryAfterSeconds: 1 });
    expect(calls()).toBe(PROOFS);
    expect(await ended(begin('elsewhere', '192.0.2.2'), 'accept')).toBe('fine');
    await clock.advance(1_000);
    expect(await ended(begin('next'), 'accept')).toBe('fine');
  });

  test.each<[string, 'accept' | GatewayError, number]>([
    ['that the gateway accepts', 'accept', 0],
    ['that the gateway fails to check', error('unavailable', 503), 0],
    ['whose call was never sent', error('unavailable', null), 0],
    ['that is refused', REFUSED, 1],
    ['that is forbidden, as by a front proxy', error('forbidden', 403), 1],
  ])('%s costs a proof while it is checked, and in the end %s', async (_what, end, cost) => {
    const { begin, ended, left } = setUp();
    const call = begin('a');
    await Promise.resolve();
    expect(left()).toBe(PROOFS - 1);
    await ended(call, end);
    expect(left()).toBe(PROOFS - cost);
  });

  test('whose client leaves costs one proof, unless its call was never sent', async () => {
    const { guard, left } = setUp();
    const leaving = async (token: string, wasSent: boolean) => {
      const leave = new AbortController();
      const client = { address: HERE, userAgent: null };
      const viewer = viewerOf(token, { client, signal: leave.signal });
      const call = guard.guard(viewer, async () => {
        leave.abort();
        throw new GatewayError('unavailable', 'getCustomerId', 'aborted', { wasSent });
      });
      await expect(call).rejects.toThrow('aborted');
    };
    await leaving('a', false);
    expect(left()).toBe(PROOFS);
    await leaving('a', true);
    expect(left()).toBe(PROOFS - 1);
  });

  test('costs one proof for all its calls under way, charged to the address of the first', async () => {
    const { begin, ended, left } = setUp();
    const first = begin('a');
    const others = [begin('a'), begin('a', '192.0.2.2')];
    await Promise.resolve();
    expect([left(), left('192.0.2.2')]).toEqual([PROOFS - 1, PROOFS]);
    expect(await ended(first, REFUSED)).toBe('unauthenticated');
    for (const each of others) await ended(each, 'accept');
    expect([left(), left('192.0.2.2')]).toEqual([PROOFS - 1, PROOFS]);
  });

  test('costs another proof for a call after its refusal, even while an earlier call is under way', async () => {
    const { begin, ended, refuse, left } = setUp();
    const hanging = begin('forged');
    await refuse('forged');
    const next = begin('forged', '192.0.2.2');
    expect([left(), left('192.0.2.2')]).toEqual([PROOFS - 1, PROOFS - 1]);
    await ended(hanging, REFUSED);
    // The end of the first attempt does not end the second.
    const joined = begin('forged');
    expect(left()).toBe(PROOFS - 1);
    for (const each of [next, joined]) await ended(each, REFUSED);
    expect([left(), left('192.0.2.2')]).toEqual([PROOFS - 1, PROOFS - 1]);
    expect(await ended(begin('other'), 'accept')).toBe('fine');
    expect(left()).toBe(PROOFS - 1);
  });
});

describe('a known token', () => {
  const exhausted = async (shared?: SharedKeys) => {
    const world = setUp(shared);
    for (let at = 0; at < PROOFS; at += 1) await world.refuse(`forged ${at}`);
    return world;
  };

  test('passes without proofs left for its address, until it is refused', async () => {
    const { known, guard, begin, ended } = await exhausted();
    known.add(toToken('mine').hash);
    expect(await ended(begin('mine'), 'accept')).toBe('fine');
    guard.refused(viewerOf('mine'));
    expect(await ended(begin('mine'), 'accept')).toBe('unknown tokens');
    guard.accepted(viewerOf('mine'));
    expect(await ended(begin('mine'), 'accept')).toBe('fine');
  });

  test('passes if another replica knows it', async () => {
    const { begin, ended } = await exhausted({
      add() {},
      delete() {},
      has: async (key) => key === toToken('theirs').hash,
    });
    expect(await ended(begin('theirs'), 'accept')).toBe('fine');
    expect(await ended(begin('unknown'), 'accept')).toBe('unknown tokens');
  });

  test('costs nothing and refunds nothing', async () => {
    const { known, begin, ended, refuse, left } = setUp();
    await refuse('forged');
    known.add(toToken('mine').hash);
    await ended(begin('mine'), 'accept');
    expect(left()).toBe(PROOFS - 1);
  });
});
