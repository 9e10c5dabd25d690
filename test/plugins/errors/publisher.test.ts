import { GraphQLError } from 'graphql';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../../../src/gateway/errors.ts';
import { createLog } from '../../../src/lib/log.ts';
import { Registry } from '../../../src/lib/metrics/registry.ts';
import { EngineMetrics } from '../../../src/plugins/errors/engine-metrics.ts';
import { Publisher } from '../../../src/plugins/errors/publisher.ts';
import { Context } from '../../../src/schema/context.ts';
import type { Services } from '../../../src/schema/services.ts';

function setUp({ receipts = false } = {}) {
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  });
  const publisher = new Publisher({ log, metrics: new EngineMetrics(new Registry()), receipts });
  // Nothing is read here, so there are no services to read with.
  const context = new Context({} as Services, { token: null }, 'request-1');
  return { publisher, context, logged: () => lines.map((line) => JSON.parse(line)) };
}

const fieldError = (originalError: Error, path: string) =>
  new GraphQLError(originalError.message, { path: [path], originalError });

describe('a fault of the program', () => {
  test('reaches the client as a number to ask about, and the log as it is', () => {
    const { publisher, context, logged } = setUp();
    const cause = new TypeError('rows of undefined', { cause: new Error('deeper') });
    const { data, errors } = publisher.publish(
      { data: { a: null }, errors: [fieldError(cause, 'a')] },
      context,
    );
    expect(data).toEqual({ a: null });
    expect(JSON.parse(JSON.stringify(errors))).toEqual([
      {
        message: 'Something went wrong here.',
        path: ['a'],
        extensions: { code: 'INTERNAL', retryable: false, requestId: 'request-1' },
      },
    ]);
    expect(logged()).toMatchObject([
      {
        level: 'error',
        requestId: 'request-1',
        code: 'INTERNAL',
        err: { type: 'TypeError', message: 'rows of undefined', cause: { message: 'deeper' } },
      },
    ]);
  });

  test('includes thrown text, and errors of GraphQL itself', () => {
    const { publisher, context } = setUp();
    const errors = [
      new GraphQLError('Cannot return null for non-nullable field Position.id.'),
      fieldError('a text' as unknown as Error, 'b'),
    ];
    const published = publisher.publish({ errors }, context).errors ?? [];
    for (const { message, extensions } of published) {
      expect(message).toBe('Something went wrong here.');
      expect(extensions.code).toBe('INTERNAL');
    }
  });
});

test('a failing read that shows at several fields is one line of the log', () => {
  const { publisher, context, logged } = setUp();
  const cause = new GatewayError('timeout', 'getSession', 'no answer');
  const errors = [fieldError(cause, 'session'), fieldError(cause, 'orders')];
  expect(publisher.publish({ errors }, context).errors).toHaveLength(2);
  expect(logged()).toHaveLength(1);
  expect(logged()[0].err).toBeUndefined();
  expect(logged()[0]).toMatchObject({ level: 'debug', code: 'GATEWAY_TIMEOUT' });
});

test('the cost of an answer is reported only where receipts are on', () => {
  const entry = { operation: 'getSession', ms: 1.26, source: 'call' } as const;
  for (const receipts of [false, true]) {
    const { publisher, context } = setUp({ receipts });
    context.receipts.push(entry);
    const { extensions } = publisher.publish({ data: {} }, context);
    expect(extensions?.gateway).toEqual(receipts ? [{ ...entry, ms: 1.3 }] : undefined);
  }
});
