import { describe, expect, test } from 'vitest';
import { GatewayError, UnsafePathError } from '../../src/gateway/errors.ts';
import { describe as describeError, publicExtensions } from '../../src/schema/public-error.ts';

const extensionsOf = (error: unknown) => publicExtensions(describeError(error));

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

  test('is the beginning of a long text, without the part of an address at its end', () => {
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
});
