import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REQUEST_CODES } from '../../engine/errors/codes.ts';
import { GatewayError, UnsafePathError } from '../../src/gateway/errors.ts';
import { ERROR_CODES } from '../../src/schema/error-codes.ts';
import { describe as describeError, publicExtensions } from '../../src/schema/public-error.ts';

const extensionsOf = (error: unknown) => publicExtensions(describeError(error));

test('docs/orders.md says of each word what is known of this request and of earlier ones', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'orders.md'), 'utf8');
  const [, section = ''] = page.split('### What is known of which request');
  const table = section.slice(0, section.indexOf('\n### '));
  const outcomes = ['OrderAccepted', 'OrderRejected', 'EXPIRED', 'VOIDED', 'OrderOutcomeUnknown'];
  const words = [...outcomes, ...Object.keys(ERROR_CODES)];
  expect(words.filter((word) => !table.includes(`\`${word}\``))).toEqual([]);
});

test('the codes of refused requests mean the same in both tables', () => {
  expect(ERROR_CODES).toMatchObject(REQUEST_CODES);
});

describe('what a client learns of an error', () => {
  test.each([new Error('table users is locked'), new TypeError('x'), 'a text', null, { code: 1 }])(
    'that nobody expected is that there was one: %s',
    (error) => {
      expect(describeError(error)).toEqual({
        code: 'INTERNAL',
        message: 'Something went wrong here.',
      });
    },
  );

  test('of a text without end is its beginning, and nothing of an address that it cuts', () => {
    const message = `${'word '.repeat(399)} jane@example.com ${'more '.repeat(100_000)}`;
    const refusal = { error: null, message, email: null, ok: null, details: null };
    const error = new GatewayError('refused', 'getSession', 'status 423', { refusal });
    const { gatewayError } = extensionsOf(error) as unknown as {
      gatewayError: { message: string };
    };
    expect(gatewayError.message).toHaveLength(2_000);
    expect(gatewayError.message).not.toContain('jane');
  });

  test('of a path is the input, the token, the session or the setting that the value came from', () => {
    const of = (...args: ConstructorParameters<typeof UnsafePathError>) =>
      extensionsOf(new UnsafePathError(...args));
    expect(of('alertId', { argument: 'input.alertId' })).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'input.alertId',
    });
    expect(of('group', 'token').code).toBe('UNAUTHENTICATED');
    expect(of('group', 'session')).toMatchObject({
      code: 'GATEWAY_CONTRACT',
      operation: 'getSession',
    });
    expect(of('provider', 'setting').code).toBe('INTERNAL');
  });

  test('of a refusal is the gateway’s word for it, without its details', () => {
    const refusal = {
      error: 'RESTRICTED',
      message: 'Call +49 30 1234567 about jane@example.com.',
      email: 'jane@example.com',
      ok: false,
      details: { iban: 'DE1' },
    };
    expect(extensionsOf(new GatewayError('forbidden', 'getSession', 'x', { refusal }))).toEqual({
      code: 'FORBIDDEN',
      retryable: false,
      operation: 'getSession',
      gatewayError: { error: 'RESTRICTED', message: 'Call […] about […].' },
    });
  });

  test('of a rate limit is always how long to wait', () => {
    const limited = (more: object) => new GatewayError('rate-limited', 'getCustomerId', 'x', more);
    expect(extensionsOf(limited({ retryAfterSeconds: 12 }))).toMatchObject({ retryAfter: 12 });
    expect(extensionsOf(limited({})).retryAfter).toBeGreaterThan(0);
  });

  test('of an unknown outcome is whether repeating it does harm', () => {
    const unknown = (operation: 'setValue' | 'addCryptoWallet') =>
      extensionsOf(new GatewayError('unknown', operation, 'x'));
    expect(unknown('setValue')).toMatchObject({ code: 'OUTCOME_UNKNOWN', retryable: true });
    expect(unknown('addCryptoWallet')).toMatchObject({ retryable: false });
  });
});
