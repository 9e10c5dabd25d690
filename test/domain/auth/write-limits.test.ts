import { describe, expect, test } from 'vitest';
import { TooManyAttemptsError } from '../../../src/domain/auth/errors.ts';
import { WriteLimits } from '../../../src/domain/auth/write-limits.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
import { accountClient, addressClient } from '../../../src/lib/limits/client.ts';
import { KnownKeys } from '../../../src/lib/limits/known-keys.ts';
import { toToken } from '../../../src/lib/token.ts';
import { accountNamed } from '../../support/accounts.ts';
import { createTestLimiter, DEFAULT_LIMITS } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const refusal = { error: 'NO', message: null, email: null, ok: null, details: null };
const REJECTED = { outcome: 'rejected', refusal } as const;
const granted = (accessToken: string) =>
  ({ outcome: 'granted', grant: { accessToken, refreshToken: null, passkey: null } }) as const;
const GRANTED = granted('new');
const UNSENT = new GatewayError('unavailable', 'login', 'never sent', { wasSent: false });
const LOST = new GatewayError('unavailable', 'login', 'no answer');

function from(address = '') {
  return { client: { address, userAgent: null } };
}

function setUp() {
  const clock = createScriptedClock();
  const limiter = createTestLimiter({}, clock);
  const tokens = new KnownKeys(clock, 3_600_000);
  const limits = new WriteLimits(limiter, tokens);
  const wrong = (address?: string, email = 'demo@example.com') =>
    limits.login(from(address), email, async () => REJECTED);
  /** Makes `count` attempts. Returns how many of them the limits refuse. */
  const refusedOf = async (count: number, attempt: () => Promise<unknown>) => {
    let refused = 0;
    for (let at = 0; at < count; at += 1) {
      await attempt().catch((error: unknown) => {
        if (error instanceof TooManyAttemptsError) refused += 1;
      });
    }
    return refused;
  };
  return { clock, limiter, limits, tokens, wrong, refusedOf };
}

describe('a sign-in', () => {
  test('is limited for one e-mail from one address, in any spelling', async () => {
    const { wrong, refusedOf } = setUp();
    expect(await refusedOf(9, () => wrong('192.0.2.1', 'Demo@Example.com '))).toBe(0);
    expect(await refusedOf(2, () => wrong('192.0.2.1', 'ＤＥＭＯ@example.com'))).toBe(1);
    const error = await wrong('192.0.2.1').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ limit: 'LOGIN_LIMIT_PER_MINUTE', retryAfterSeconds: 6 });
    expect(await refusedOf(1, () => wrong('192.0.2.2'))).toBe(0);
  });

  test('that is refused counts against neither its address nor its e-mail', async () => {
    const { limiter, wrong, refusedOf } = setUp();
    expect(await refusedOf(200, () => wrong('192.0.2.1'))).toBe(190);
    expect(limiter.take('login', addressClient('192.0.2.1'), 0).left).toBe(290);
    expect(await refusedOf(1, () => wrong('192.0.2.2'))).toBe(0);
  });

  test('is refunded if it was never sent, but not if its answer was lost', async () => {
    const { limits, refusedOf } = setUp();
    const failing = (error: Error) => () =>
      limits.login(from('192.0.2.1'), 'demo@example.com', () => Promise.reject(error));
    expect(await refusedOf(50, failing(UNSENT))).toBe(0);
    expect(await refusedOf(50, failing(LOST))).toBe(40);
  });

  test('that is granted makes only its own token known', async () => {
    const { limits, tokens, refusedOf, wrong } = setUp();
    await limits.login(from('192.0.2.1'), 'demo@example.com', async () => GRANTED);
    expect(['new', 'old'].map((token) => tokens.has(toToken(token).hash))).toEqual([true, false]);
    const forwarded = { pairs: ['x-tenant', 'a'], digest: 'a' };
    const by = { ...from('192.0.2.1'), forwarded };
    await limits.login(by, 'demo@example.com', async () => granted('of a'));
    const known = ['of a', 'new'].map((token) => tokens.has(toToken(token, 'a').hash));
    expect([known, tokens.has(toToken('of a').hash)]).toEqual([[true, false], false]);
    expect(await refusedOf(9, () => wrong('192.0.2.1'))).toBe(1);
  });

  test('is limited for one e-mail from many addresses, without effect on another e-mail', async () => {
    const { wrong, refusedOf } = setUp();
    let at = 0;
    expect(await refusedOf(110, () => wrong(`192.0.2.${at++}`))).toBe(10);
    expect(await refusedOf(1, () => wrong('192.0.2.1', 'other@example.com'))).toBe(0);
  });
});

test('password mails are limited per e-mail and minute, per e-mail and hour, and per address', async () => {
  const { clock, limits, refusedOf } = setUp();
  const forgot = (email: string, address = '192.0.2.1') =>
    limits.forgotPassword(from(address), email, async () => 'sent');
  expect(await refusedOf(5, () => forgot('demo@example.com'))).toBe(2);
  expect(await refusedOf(1, () => forgot('demo@example.com', '192.0.2.2'))).toBe(1);
  let at = 0;
  expect(await refusedOf(30, () => forgot(`user-${at++}@example.com`))).toBe(3);
  expect(await refusedOf(1, () => forgot('demo2@example.com', '192.0.2.2'))).toBe(0);
  let sent = 0;
  for (let minute = 0; minute < 60; minute += 1) {
    await clock.advance(60_000);
    sent += 3 - (await refusedOf(3, () => forgot('demo@example.com')));
  }
  expect(sent).toBe(6);
});

test('each small write has its own limit, per account or otherwise per address', async () => {
  const { limits, refusedOf } = setUp();
  const [one, other] = [accountClient(accountNamed('1')), accountClient(accountNamed('1'))];
  const write = (client: typeof one, operation: 'setValue' | 'registerDevice') => () =>
    limits.write(client, operation, async () => 'done');
  expect(await refusedOf(40, write(one, 'setValue'))).toBe(0);
  expect(await refusedOf(40, write(other, 'setValue'))).toBe(20);
  expect(await refusedOf(30, write(one, 'registerDevice'))).toBe(0);
  expect(await refusedOf(310, write(addressClient('192.0.2.1'), 'registerDevice'))).toBe(10);
  const error = await write(one, 'setValue')().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ limit: DEFAULT_LIMITS.writes.label, retryAfterSeconds: 1 });
});
