import { describe, expect, test } from 'vitest';
import { ProofLedger } from '../../../src/domain/auth/proof.ts';
import { UnknownTokens } from '../../../src/domain/auth/trading-limits.ts';
import { GatewayError } from '../../../src/gateway/gateway-error.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { KnownKeys, type SharedKeys } from '../../../src/lib/limits/known-keys.ts';
import { addressClient, toToken } from '../../../src/lib/limits/request-caller.ts';
import { createTestLimiter } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { viewerOf } from '../viewer.ts';

/** The limit `proofs`: how many unknown tokens of one address may be refused in a minute. */
const MAX_PROOFS = 60;
const ADDRESS = '192.0.2.1';
const OTHER_ADDRESS = '192.0.2.2';
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
  const begin = (token: string, address = ADDRESS) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const viewer = viewerOf(token, { sender: { address, userAgent: null } });
    const done = guard.guard(viewer, () => {
      calls += 1;
      return promise;
    });
    // Some calls are refused before they are sent, or are still under way at the end of a test.
    for (const each of [promise, done]) each.catch(() => {});
    return { viewer, done, accept: () => resolve('fine'), fail: reject };
  };
  /** Ends a call. Returns its answer, the kind of the gateway's error, or the limit that refused the call. */
  const ended = async (call: ReturnType<typeof begin>, end: 'accept' | GatewayError) => {
    if (end === 'accept') call.accept();
    else call.fail(end);
    return call.done.catch(({ kind, limit }) => kind ?? limit);
  };
  const refuse = async (token: string, address?: string) => ended(begin(token, address), REFUSED);
  const proofsLeft = (address = ADDRESS) => limiter.take('proofs', addressClient(address), 0).left;
  return { clock, known, ledger, guard, begin, ended, refuse, proofsLeft, calls: () => calls };
}

describe('an unknown token', () => {
  test('costs only its address one of sixty proofs a minute if it is refused', async () => {
    const { clock, refuse, calls, begin, ended } = setUp();
    for (let n = 0; n < MAX_PROOFS; n += 1) expect(await refuse(`${n}`)).toBe('unauthenticated');
    const late = await begin('one more').done.catch((reason: unknown) => reason);
    expect(late).toMatchObject({ limit: 'unknown tokens', retryAfterSeconds: 1 });
    expect(calls()).toBe(MAX_PROOFS);
    expect(await ended(begin('elsewhere', OTHER_ADDRESS), 'accept')).toBe('fine');
    await clock.advance(1_000);
    expect(await ended(begin('next'), 'accept')).toBe('fine');
  });

  test.each<[string, number, 'accept' | GatewayError]>([
    ['that the gateway accepts', 0, 'accept'],
    ['that the gateway fails to check', 0, error('unavailable', 503)],
    ['whose call was never sent', 0, error('unavailable', null)],
    ['that is refused', 1, REFUSED],
    ['that is forbidden, for example by a front proxy', 1, error('forbidden', 403)],
  ])('%s costs one proof while it is checked, and %d after the check', async (_what, cost, end) => {
    const { begin, ended, proofsLeft } = setUp();
    const call = begin('a');
    // The proof is charged in a microtask.
    await Promise.resolve();
    expect(proofsLeft()).toBe(MAX_PROOFS - 1);
    await ended(call, end);
    expect(proofsLeft()).toBe(MAX_PROOFS - cost);
  });

  test('costs one proof for all its calls under way, charged to the address of the first', async () => {
    const { begin, ended, proofsLeft } = setUp();
    const first = begin('a');
    const others = [begin('a'), begin('a', OTHER_ADDRESS)];
    await Promise.resolve();
    expect([proofsLeft(), proofsLeft(OTHER_ADDRESS)]).toEqual([MAX_PROOFS - 1, MAX_PROOFS]);
    expect(await ended(first, REFUSED)).toBe('unauthenticated');
    for (const each of others) await ended(each, 'accept');
    expect([proofsLeft(), proofsLeft(OTHER_ADDRESS)]).toEqual([MAX_PROOFS - 1, MAX_PROOFS]);
  });

  test('costs another proof for a call after its refusal, even while an earlier call is under way', async () => {
    const { begin, ended, refuse, proofsLeft } = setUp();
    const hanging = begin('forged');
    await refuse('forged');
    const next = begin('forged', OTHER_ADDRESS);
    expect([proofsLeft(), proofsLeft(OTHER_ADDRESS)]).toEqual([MAX_PROOFS - 1, MAX_PROOFS - 1]);
    await ended(hanging, REFUSED);
    // The end of the first call does not end the check that `next` began, so this call joins that check.
    const joined = begin('forged');
    expect(proofsLeft()).toBe(MAX_PROOFS - 1);
    for (const each of [next, joined]) await ended(each, REFUSED);
    expect([proofsLeft(), proofsLeft(OTHER_ADDRESS)]).toEqual([MAX_PROOFS - 1, MAX_PROOFS - 1]);
    expect(await ended(begin('other'), 'accept')).toBe('fine');
    expect(proofsLeft()).toBe(MAX_PROOFS - 1);
  });
});

describe('a known token', () => {
  /** Sets up with no proofs left for the address. */
  const setUpExhausted = async (shared?: SharedKeys) => {
    const parts = setUp(shared);
    for (let n = 0; n < MAX_PROOFS; n += 1) await parts.refuse(`forged ${n}`);
    return parts;
  };

  test('passes without proofs left for its address, until it is refused', async () => {
    const { known, ledger, guard, begin, ended } = await setUpExhausted();
    known.add(toToken('mine').hash);
    expect(await ended(begin('mine'), 'accept')).toBe('fine');
    ledger.refused(viewerOf('mine'));
    expect(await ended(begin('mine'), 'accept')).toBe('unknown tokens');
    guard.accepted(viewerOf('mine'));
    expect(await ended(begin('mine'), 'accept')).toBe('fine');
  });

  test('passes if another replica knows it', async () => {
    const { begin, ended } = await setUpExhausted({
      add() {},
      delete() {},
      has: async (key) => key === toToken('theirs').hash,
    });
    expect(await ended(begin('theirs'), 'accept')).toBe('fine');
    expect(await ended(begin('unknown'), 'accept')).toBe('unknown tokens');
  });

  test('costs nothing and refunds nothing', async () => {
    const { known, begin, ended, refuse, proofsLeft } = setUp();
    await refuse('forged');
    known.add(toToken('mine').hash);
    await ended(begin('mine'), 'accept');
    expect(proofsLeft()).toBe(MAX_PROOFS - 1);
  });
});
