import { expect, test } from 'vitest';
import { TooManyAttemptsError } from '../../../src/domain/auth/errors.ts';
import { SignInLimits } from '../../../src/domain/auth/sign-in-limits.ts';
import { createMemoryRateCounters } from '../../../src/store/memory/rate-counters.ts';

const limits = () => new SignInLimits({ counters: createMemoryRateCounters(), perMinute: 1 });

test('attempts whose address is not known count as those of one address', async () => {
  const signIns = limits();
  await signIns.take(undefined, 'demo@example.com');
  const error = await signIns
    .take(undefined, 'demo@example.com')
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TooManyAttemptsError);
  expect(error).toMatchObject({ limit: 'LOGIN_LIMIT_PER_MINUTE' });
  const { retryAfterSeconds } = error as TooManyAttemptsError;
  expect(retryAfterSeconds).toBeGreaterThan(0);
  expect(retryAfterSeconds).toBeLessThanOrEqual(60);
  await signIns.take('192.0.2.1', 'demo@example.com');
});

test('an e-mail is one however it is written', async () => {
  const signIns = limits();
  await signIns.take('192.0.2.1', 'Demo@Example.com ');
  for (const email of ['demo@example.com', 'ＤＥＭＯ@example.com']) {
    await expect(signIns.take('192.0.2.1', email)).rejects.toThrow(TooManyAttemptsError);
  }
});
