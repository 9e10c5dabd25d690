import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { ErrorCodes } from '../../../src/engine/operation/error-codes.ts';
import { RequestSummary } from '../../../src/engine/operation/request-summary.ts';
import { createLog } from '../../../src/lib/log.ts';
import type { PublicCause } from '../../../src/lib/public-cause.ts';

/** Masks one error that a resolver threw, described so. */
function maskedAs(described: PublicCause) {
  const lines: string[] = [];
  const counted: unknown[] = [];
  const codes = new ErrorCodes({
    log: createLog({
      level: 'info',
      format: 'json',
      destination: { write: (line) => lines.push(line) },
    }),
    metrics: { error: (code) => counted.push(code), refusal: (limit) => counted.push(limit) },
    describe: () => described,
  });
  const origin = { requestId: 'r', transport: 'http', method: 'POST', client: null } as const;
  const record = new RequestSummary({ ...origin, bytesIn: 0, trace: null });
  const originalError = new Error('a secret');
  const [error] = codes.masked([new GraphQLError('a secret', { originalError })], record);
  return { error, record, counted, log: lines.join('') };
}

test('an unknown error is masked, counted, and logged with its stack', () => {
  const internal = { message: 'Something went wrong here.', extensions: { code: 'INTERNAL' } };
  const { error, record, counted, log } = maskedAs(internal);
  expect(error?.toJSON()).toEqual({
    ...internal,
    extensions: { code: 'INTERNAL', requestId: 'r' },
  });
  expect(counted).toEqual(['INTERNAL']);
  expect(record.outcome).toBe('fault');
  expect(log).toMatch(/a secret.*error-codes\.test\.ts/);
});

test('a failed call is a fault of its request alone, and one over a limit here is refused', () => {
  const away = maskedAs({ message: 'away', extensions: { code: 'GATEWAY_UNAVAILABLE' } });
  expect([away.record.outcome, away.counted, away.log]).toEqual([
    'fault',
    ['GATEWAY_UNAVAILABLE'],
    '',
  ]);
  const over = maskedAs({
    message: 'away',
    extensions: { code: 'GATEWAY_UNAVAILABLE', limit: 'calls' },
  });
  expect([over.record.outcome, over.counted]).toEqual([
    'refused',
    ['calls', 'GATEWAY_UNAVAILABLE'],
  ]);
});
