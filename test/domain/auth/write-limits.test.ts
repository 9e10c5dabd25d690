import { describe, expect, test } from 'vitest';
import { accountClient, addressClient } from '../../../lib/limits/client.ts';
import { createKnownKeys } from '../../../lib/limits/known-keys.ts';
import { toToken } from '../../../lib/token.ts';
import { TooManyAttemptsError } from '../../../src/domain/auth/errors.ts';
import { createWriteLimits } from '../../../src/domain/auth/write-limits.ts';
import { GatewayError } from '../../../src/gateway/errors.ts';
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

function from(address = '', token?: string) {
  return {
    client: { address, userAgent: null },
    token: token === undefined ? null : toToken(token),
  };
}

function stage() {
  const clock = createScriptedClock();
  const limiter = createTestLimiter({}, clock);
  const tokens = createKnownKeys(clock, 3_600_000);
  const limits = createWriteLimits(limiter, createKnownKeys(clock, 3_600_000), tokens);
  const wrong = (address?: string, email = 'demo@example.com') =>
    limits.login(from(address, 'unknown'), email, async () => REJECTED);
  const right = (address: string, token?: string) =>
    limits.login(from(address, token), 'demo@example.com', async () => GRANTED);
  /** How many of so many attempts are refused here. */
  const refusedOf = async (count: number, attempt: () => Promise<unknown>) => {
    let refused = 0;
    for (let at = 0; at < count; at += 1) {
      await attempt().catch((error: unknown) => {
        if (error instanceof TooManyAttemptsError) refused += 1;
      });
    }
    return refused;
  };
  return { clock, limiter, limits, tokens, wrong, right, refusedOf };
}

describe('a sign-in', () => {
  test('of one e-mail from one address is limited, however it is written', async () => {
    const { wrong, refusedOf } = stage();
    expect(await refusedOf(9, () => wrong('192.0.2.1', 'Demo@Example.com '))).toBe(0);
    expect(await refusedOf(2, () => wrong('192.0.2.1', 'ＤＥＭＯ@example.com'))).toBe(1);
    const error = await wrong('192.0.2.1').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ limit: 'LOGIN_LIMIT_PER_MINUTE', retryAfterSeconds: 6 });
    expect(await refusedOf(1, () => wrong('192.0.2.2'))).toBe(0);
  });

  test('that is refused counts neither for its address nor for its e-mail', async () => {
    const { limiter, wrong, refusedOf } = stage();
    expect(await refusedOf(200, () => wrong('192.0.2.1'))).toBe(190);
    expect(limiter.take('login', addressClient('192.0.2.1'), 0).left).toBe(290);
    expect(await refusedOf(1, () => wrong('192.0.2.2'))).toBe(0);
  });

  test('that was never sent is given back, and one without an answer is not', async () => {
    const { limits, refusedOf } = stage();
    const failing = (error: Error) => () =>
      limits.login(from('192.0.2.1'), 'demo@example.com', () => Promise.reject(error));
    expect(await refusedOf(50, failing(UNSENT))).toBe(0);
    expect(await refusedOf(50, failing(LOST))).toBe(40);
  });

  test('at an address where it has succeeded lately is kept from nobody elsewhere', async () => {
    const { wrong, right, refusedOf } = stage();
    await right('192.0.2.1');
    await right('2001:db8:0:1::1');
    for (let at = 10; at < 20; at += 1) await refusedOf(10, () => wrong(`192.0.2.${at}`));
    expect(await refusedOf(1, () => right('192.0.2.2'))).toBe(1);
    expect(await refusedOf(1, () => right('192.0.2.1'))).toBe(0);
    // It is no way to try passwords either.
    expect(await refusedOf(10, () => wrong('192.0.2.1'))).toBe(1);
    // A neighbour in a larger network of IPv6 is a stranger.
    expect(await refusedOf(1, () => right('2001:db8:0:2::1'))).toBe(1);
  });

  test('with the token of an earlier one is kept from no neighbour', async () => {
    const { limits, tokens, wrong, right, refusedOf } = stage();
    await right('192.0.2.1');
    expect(['new', 'old'].map((token) => tokens.has(toToken(token).hash))).toEqual([true, false]);
    expect(await refusedOf(20, () => wrong('192.0.2.1'))).toBe(10);
    expect(await refusedOf(1, () => right('192.0.2.1'))).toBe(1);
    expect(await refusedOf(1, () => right('192.0.2.1', 'new'))).toBe(0);
    // Wherever the device is by now; but for its own e-mail, as often as others, and by no other token.
    expect(await refusedOf(12, () => right('192.0.2.9', 'new'))).toBe(3);
    expect(await refusedOf(1, () => right('192.0.2.1', 'made up'))).toBe(1);
    const another = () => limits.login(from('', 'new'), 'other@example.com', async () => REJECTED);
    expect(await refusedOf(11, another)).toBe(1);
  });

  test('gives attempts of its own to no other tenant’s', async () => {
    const { limits, refusedOf } = stage();
    const sent = (tenant: string, answer: typeof REJECTED | typeof GRANTED) => () => {
      const forwarded = { pairs: ['x-tenant', tenant], digest: tenant };
      const by = { ...from('192.0.2.1'), forwarded };
      return limits.login(by, 'demo@example.com', async () => answer);
    };
    await sent('b', GRANTED)();
    expect(await refusedOf(20, sent('a', REJECTED))).toBe(11);
    // What strangers are left is one for all tenants, since anybody can write any header.
    expect(await refusedOf(1, sent('c', REJECTED))).toBe(1);
    expect(await refusedOf(1, sent('b', GRANTED))).toBe(0);
  });

  test('with the token of each last one has no more attempts than with one of them', async () => {
    const { limits, refusedOf } = stage();
    let last = 0;
    const next = () =>
      limits.login(from('192.0.2.1', `token ${last}`), 'demo@example.com', async () => {
        last += 1;
        return granted(`token ${last}`);
      });
    await next();
    expect(await refusedOf(15, next)).toBe(5);
  });
});

test('mails for one e-mail are few and ever fewer, and an address orders few', async () => {
  const { clock, limits, refusedOf } = stage();
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

test('a reset where its e-mail has signed in lately is kept from nobody elsewhere', async () => {
  const { limits, right, refusedOf } = stage();
  await right('192.0.2.1');
  for (const by of [from('192.0.2.2'), from('192.0.2.1'), from('192.0.2.1', 'new')]) {
    const forgot = () => limits.forgotPassword(by, 'demo@example.com', async () => 'sent');
    expect(await refusedOf(9, forgot)).toBe(6);
  }
});

test('each small write has a share of its own, of an account or else of an address', async () => {
  const { limits, refusedOf } = stage();
  const [one, other] = [
    accountClient(accountNamed('1'), 'x'),
    accountClient(accountNamed('1'), 'y'),
  ];
  const write = (client: typeof one, operation: 'setValue' | 'registerDevice') => () =>
    limits.write(client, operation, async () => 'done');
  expect(await refusedOf(40, write(one, 'setValue'))).toBe(0);
  expect(await refusedOf(40, write(other, 'setValue'))).toBe(10);
  expect(await refusedOf(30, write(one, 'registerDevice'))).toBe(0);
  expect(await refusedOf(310, write(addressClient('192.0.2.1'), 'registerDevice'))).toBe(10);
  const error = await write(one, 'setValue')().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ limit: DEFAULT_LIMITS.writes.label, retryAfterSeconds: 2 });
});
