import { describe, expect, test } from 'vitest';
import { GatewayError, UnsafePathError } from '../../src/gateway/gateway-error.ts';
import { publicCause } from '../../src/schema/public-cause.ts';

const extensionsOf = (error: unknown) => publicCause(error).extensions;

describe('an error as clients see it', () => {
  test.each([new Error('table users is locked'), new TypeError('x'), 'a text', null, { code: 1 }])(
    'is INTERNAL and hides its cause if it was not expected: %s',
    (error) => {
      expect(publicCause(error)).toEqual({
        message: 'Something went wrong here.',
        extensions: { code: 'INTERNAL', retryable: false },
        outcome: 'fault',
      });
    },
  );

  test('has no part of an e-mail address that is cut off at the maximum length of the gateway’s message', () => {
    const textBefore = 'word '.repeat(399);
    // The cut after 2,000 characters comes right after `jane`, and what is left no longer looks like an address.
    const message = `${textBefore} jane@example.com ${'more '.repeat(100_000)}`;
    const refusal = { error: null, message, email: null, details: null };
    const error = new GatewayError('refused', 'getSession', 'status 423', { refusal });
    const { gatewayError } = extensionsOf(error) as unknown as {
      gatewayError: { message: string };
    };
    expect(gatewayError.message).toHaveLength(2_000);
    expect(gatewayError.message).not.toContain('jane');
  });

  test('blames the source of a text that no path may contain: the input or the token', () => {
    const unsafePath = (...args: ConstructorParameters<typeof UnsafePathError>) =>
      extensionsOf(new UnsafePathError(...args));
    expect(unsafePath('alertId', 'input.alertId')).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'input.alertId',
    });
    expect(unsafePath('group', null).code).toBe('UNAUTHENTICATED');
  });
});
