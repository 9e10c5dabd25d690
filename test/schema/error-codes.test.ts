import { describe, expect, test } from 'vitest';
import { GatewayError, UnsafePathError } from '../../src/gateway/errors.ts';
import { publicCause } from '../../src/schema/public-error.ts';

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

  test('has at most 2,000 characters of the gateway’s message, and no cut-off e-mail address at the end', () => {
    const message = `${'word '.repeat(399)} jane@example.com ${'more '.repeat(100_000)}`;
    const refusal = { error: null, message, email: null, details: null };
    const error = new GatewayError('refused', 'getSession', 'status 423', { refusal });
    const { gatewayError } = extensionsOf(error) as unknown as {
      gatewayError: { message: string };
    };
    expect(gatewayError.message).toHaveLength(2_000);
    expect(gatewayError.message).not.toContain('jane');
  });

  test('has a code by the source of an unsafe path: the input or the token', () => {
    const unsafePath = (...args: ConstructorParameters<typeof UnsafePathError>) =>
      extensionsOf(new UnsafePathError(...args));
    expect(unsafePath('alertId', 'input.alertId')).toMatchObject({
      code: 'BAD_USER_INPUT',
      argument: 'input.alertId',
    });
    expect(unsafePath('group', null).code).toBe('UNAUTHENTICATED');
  });
});
