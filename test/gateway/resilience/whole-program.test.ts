import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';

const codes = (errors: readonly { extensions: { code: string } }[]) =>
  errors.map(({ extensions }) => extensions.code);

const isUnavailable = { kind: 'status', status: 503 } as const;

test('an account’s failures, on however many tokens, leave the others’ reads alone', async () => {
  await using app = await startTestApp();
  const pro = app.sandbox.token({ email: 'pro@example.com' });
  app.sandbox.fail({ operation: 'getOpenPositions', ...isUnavailable, times: 200 });
  for (let index = 0; index < 30; index += 1) {
    const token = app.sandbox.token({ email: 'demo@example.com', expiresInSeconds: 100 + index });
    const { errors } = await app.query('{ positions { id } }', { token });
    expect(codes(errors)).toEqual(['GATEWAY_UNAVAILABLE']);
  }
  app.sandbox.clearFaults();
  const { errors } = await app.query('{ positions { id } }', { token: pro });
  expect(errors).toEqual([]);
});
