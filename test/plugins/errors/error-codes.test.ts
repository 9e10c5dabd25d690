import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../src/gateway/errors.ts';
import { createLog } from '../../../src/lib/log.ts';
import { Registry } from '../../../src/lib/metrics/registry.ts';
import { ErrorCodes } from '../../../src/plugins/errors/error-codes.ts';
import { tooComplex } from '../../../src/plugins/limits/structure.ts';
import type { OperationRecord } from '../../../src/plugins/operation.ts';
import { GraphMetrics } from '../../../src/schema/graph-metrics.ts';

function setUp() {
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  });
  const metrics = new GraphMetrics(new Registry());
  const codes = new ErrorCodes(log, metrics);
  const masked = (errors: readonly GraphQLError[]) =>
    codes.masked(errors, { requestId: 'request-1', failed() {} } as never);
  return { codes, masked, logged: () => lines.map((line) => JSON.parse(line)) };
}

const fieldError = (originalError: Error, path: string) =>
  new GraphQLError(originalError.message, { path: [path], originalError });

test('a failing read that shows at several fields is one line of the log', () => {
  const { masked, logged } = setUp();
  const cause = new GatewayError('timeout', 'getSession', 'no answer');
  const errors = [fieldError(cause, 'session'), fieldError(cause, 'orders')];
  expect(masked(errors)).toHaveLength(2);
  expect(logged()).toHaveLength(1);
  expect(logged()[0].err).toBeUndefined();
  expect(logged()[0]).toMatchObject({ level: 'debug', code: 'GATEWAY_TIMEOUT' });
});

test('an operation is told of each error, whether it is of a call and whether it is of a limit', () => {
  const told: unknown[][] = [];
  const record: OperationRecord = {
    requestId: 'r',
    trace: null,
    type: 'query',
    isTrusted: false,
    operationName: null,
    failed: (...about) => void told.push(about),
  };
  const { codes } = setUp();
  const call = fieldError(new GatewayError('timeout', 'getSession', 'no answer'), 'session');
  codes.masked([call, fieldError(new TypeError('broken'), 'a')], record);
  codes.refused([tooComplex('MAX_DEPTH', 16, 15)], record);
  expect(told).toEqual([
    ['GATEWAY_TIMEOUT', true, null, false],
    ['INTERNAL', false, null, false],
    ['QUERY_TOO_COMPLEX', false, null, true],
  ]);
});
