import { describe, expect, test } from 'vitest';
import { TooManyAttemptsError, WriteLimits } from '../../../src/domain/auth/trading-limits.ts';
import { GatewayError } from '../../../src/gateway/gateway-error.ts';
import { KnownKeys } from '../../../src/lib/limits/known-keys.ts';
import { accountClient, addressClient, toToken } from '../../../src/lib/limits/request-caller.ts';
import { accountNamed } from '../../support/accounts.ts';
import { createTestLimiter, DEFAULT_LIMITS } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const refusal = { error: 'NO', message: null, email: null, details: null };
const REJECTED = { outcome: 'rejected', refusal } as const;
const granted = (accessToken: string) =>
  ({ outcome: 'granted', grant: { accessToken, refreshToken: null, passkey: null } }) as const;
const GRANTED = granted('new');
const UNSENT = new GatewayError('unavailable', 'login', 'never sent', { wasSent: false });
const LOST = new GatewayError('unavailable', 'login', 'no answer');

function callerAt(address = '') {
  return { sender: { address, userAgent: null } };
}

function setUp() {
  const clock = createScriptedClock();
  const limiter = createTestLimiter({}, clock);
  const tokens = new KnownKeys(clock, 3_600_000);
  const limits = new WriteLimits(limiter, tokens);
  /** A sign-in that the gateway rejects. */
  const signInWrongly = (address?: string, email = 'demo@example.com') =>
    limits.login(callerAt(address), email, async () => REJECTED);
  /** Makes `count` attempts. Returns how many of these the limits refuse. */
  const refusedOf = async (count: number, attempt: () => Promise<unknown>) => {
    let refused = 0;
    for (let at = 0; at < count; at += 1) {
      await attempt().catch((error: unknown) => {
        if (error instanceof TooManyAttemptsError) refused += 1;
      });
    }
    return refused;
  };
  return { clock, limiter, limits, tokens, signInWrongly, refusedOf };
}

describe('a sign-in', () => {
  test('is limited for one e-mail from one address, in any spelling', async () => {
    const { signInWrongly, refusedOf } = setUp();
    expect(await refusedOf(9, () => signInWrongly('192.0.2.1', 'Demo@Example.com '))).toBe(0);
    expect(await refusedOf(2, () => signInWrongly('192.0.2.1', 'ＤＥＭＯ@example.com'))).toBe(1);
    const error = await signInWrongly('192.0.2.1').catch((reason: unknown) => reason);
    // With ten attempts a minute, one is allowed again after six seconds.
    expect(error).toMatchObject({ limit: 'LOGIN_LIMIT_PER_MINUTE', retryAfterSeconds: 6 });
    expect(await refusedOf(1, () => signInWrongly('192.0.2.2'))).toBe(0);
  });

  test('that a limit refuses counts against neither its address nor its e-mail', async () => {
    const { limiter, signInWrongly, refusedOf } = setUp();
    expect(await refusedOf(200, () => signInWrongly('192.0.2.1'))).toBe(190);
    // Only the ten attempts that were sent count against the address's 300.
    expect(limiter.take('login', addressClient('192.0.2.1'), 0).left).toBe(290);
    expect(await refusedOf(1, () => signInWrongly('192.0.2.2'))).toBe(0);
  });

  test('is refunded if it was never sent, but not if its answer was lost', async () => {
    const { limits, refusedOf } = setUp();
    const failWith = (error: Error) => () =>
      limits.login(callerAt('192.0.2.1'), 'demo@example.com', () => Promise.reject(error));
    expect(await refusedOf(50, failWith(UNSENT))).toBe(0);
    expect(await refusedOf(50, failWith(LOST))).toBe(40);
  });

  test('that is granted makes only its own token known', async () => {
    const { limits, tokens, refusedOf, signInWrongly } = setUp();
    await limits.login(callerAt('192.0.2.1'), 'demo@example.com', async () => GRANTED);
    expect(['new', 'old'].map((token) => tokens.has(toToken(token).hash))).toEqual([true, false]);
    // A token is known only with the forwarded headers of its sign-in.
    const forwarded = { pairs: ['x-tenant', 'a'], digest: 'a' };
    const caller = { ...callerAt('192.0.2.1'), forwarded };
    await limits.login(caller, 'demo@example.com', async () => granted('of a'));
    expect(tokens.has(toToken('of a', 'a').hash)).toBe(true);
    expect(tokens.has(toToken('new', 'a').hash)).toBe(false);
    expect(tokens.has(toToken('of a').hash)).toBe(false);
    // Both sign-ins count, so eight of the ten attempts are left.
    expect(await refusedOf(9, () => signInWrongly('192.0.2.1'))).toBe(1);
  });

  test('is limited for one e-mail from many addresses, without effect on another e-mail', async () => {
    const { signInWrongly, refusedOf } = setUp();
    // All addresses together have a hundred attempts a minute for an e-mail.
    let lastByte = 0;
    expect(await refusedOf(110, () => signInWrongly(`192.0.2.${lastByte++}`))).toBe(10);
    expect(await refusedOf(1, () => signInWrongly('192.0.2.1', 'other@example.com'))).toBe(0);
  });
});

test('password mails are limited per e-mail, in a minute and in an hour, and per address', async () => {
  const { clock, limits, refusedOf } = setUp();
  const forgot = (email: string, address = '192.0.2.1') =>
    limits.forgotPassword(callerAt(address), email, async () => 'sent');
  expect(await refusedOf(5, () => forgot('demo@example.com'))).toBe(2);
  expect(await refusedOf(1, () => forgot('demo@example.com', '192.0.2.2'))).toBe(1);
  let user = 0;
  // The address may send thirty a minute, and has sent three.
  expect(await refusedOf(30, () => forgot(`user-${user++}@example.com`))).toBe(3);
  expect(await refusedOf(1, () => forgot('demo2@example.com', '192.0.2.2'))).toBe(0);
  let sent = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    await clock.advance(60_000);
    sent += 3 - (await refusedOf(3, () => forgot('demo@example.com')));
  }
  // The first three mails have used up the hour's limit. From then on one mail in ten minutes is sent.
  expect(sent).toBe(6);
});

test('each small write has a limit for its client, an account or an address', async () => {
  const { limits, refusedOf } = setUp();
  // Two clients of the same account share a limit.
  const [first, second] = [accountClient(accountNamed('1')), accountClient(accountNamed('1'))];
  const write = (client: typeof first, operation: 'setValue' | 'registerDevice') => () =>
    limits.write(client, operation, async () => 'done');
  // An account may make each small write sixty times a minute, and an address three hundred times.
  expect(await refusedOf(40, write(first, 'setValue'))).toBe(0);
  expect(await refusedOf(40, write(second, 'setValue'))).toBe(20);
  expect(await refusedOf(30, write(first, 'registerDevice'))).toBe(0);
  expect(await refusedOf(310, write(addressClient('192.0.2.1'), 'registerDevice'))).toBe(10);
  const error = await write(first, 'setValue')().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ limit: DEFAULT_LIMITS.writes.label, retryAfterSeconds: 1 });
});
