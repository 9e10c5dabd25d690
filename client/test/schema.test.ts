import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import facts from '../schema.json' with { type: 'json' };
import { TradingGraphError } from '../src/errors.ts';
import { executionResult, getDataID, keys, possibleTypes, typesWithoutId } from '../src/schema.ts';

const schema = buildSchema(
  readFileSync(join(import.meta.dirname, '..', '..', 'schema.graphql'), 'utf8'),
);
const roots = ['Query', 'Mutation', 'Subscription'];

test('only objects that always have an id of their own have a key, and it names their type', () => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__') || roots.includes(type.name)) continue;
    // A tick has its position's id, and few of its fields.
    const isOwn = String(type.getFields().id?.type) === 'ID!' && type.name !== 'PositionTick';
    expect([type.name, getDataID({ id: '7' }, type.name)]).toEqual([
      type.name,
      isOwn ? `${type.name}:7` : null,
    ]);
    expect([type.name, keys[type.name]?.()]).toEqual([type.name, isOwn ? undefined : null]);
  }
  expect(getDataID({ symbol: 'AAPL' }, 'Position')).toBeNull();
});

test('schema.json has the same as data', () => {
  expect(facts).toEqual({ possibleTypes, typesWithoutId });
});

test('an answer for other clients has its data, and errors with their codes; without data it is thrown', () => {
  const details = { retryable: true, requestId: 'r1', path: ['session'] };
  const error = new TradingGraphError('no', { code: 'GATEWAY_TIMEOUT', ...details });
  const data = { session: null };
  expect(executionResult({ data, errors: [] })).toEqual({ data });
  const extensions = { code: 'GATEWAY_TIMEOUT', retryable: true, requestId: 'r1' };
  const errors = [{ message: 'no', path: ['session'], extensions }];
  expect(executionResult({ data, errors: [error] })).toEqual({ data, errors });
  expect(() => executionResult({ data: null, errors: [error] })).toThrow(error);
});
