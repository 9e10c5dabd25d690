import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, isObjectType } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../../test/support/app.ts';
import facts from '../schema.json' with { type: 'json' };
import { createClientWith } from '../src/core-client.ts';
import { TradingGraphError } from '../src/errors.ts';
import {
  executionResult,
  forwardTo,
  getDataID,
  keys,
  onAccountEnd,
  possibleTypes,
  typesWithoutId,
} from '../src/schema.ts';
import { fakeClient } from '../src/testing.ts';
import { signedIn } from './support/client.ts';

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

test('all operations of another client go through this one, and an error without data ends them', async () => {
  await using app = await startTestApp();
  const client = createClientWith({ ...signedIn(app), environment: { isServer: false } });
  onTestFinished(() => client.dispose());
  const answerTo = (query: string, kind: string) =>
    new Promise<unknown>((next, error) => {
      const answers = forwardTo(client)({ query }, { kind });
      const { unsubscribe } = answers.subscribe({
        next: (result) => {
          unsubscribe();
          next(result.data);
        },
        error,
        complete: () => {},
      });
    });
  const session = { session: { login: '700001' } };
  expect(await answerTo('{ session { login } }', 'query')).toEqual(session);
  const read = 'mutation { markNotificationsRead(input: { ids: [1] }) { __typename } }';
  const done = { markNotificationsRead: { __typename: 'Acknowledged' } };
  expect(await answerTo(read, 'mutation')).toEqual(done);
  const live = 'subscription { positionChanges { snapshot } }';
  expect(await answerTo(live, 'subscription')).toEqual({ positionChanges: { snapshot: true } });
  await expect(answerTo('{ nothing }', 'query')).rejects.toMatchObject({
    code: 'GRAPHQL_VALIDATION_FAILED',
  });
});

test('a cache forgets once when an account ends, not at a start without one, and keeps the first data of the next', async () => {
  const { client, market } = fakeClient();
  onTestFinished(() => client.dispose());
  let forgotten = 0;
  onAccountEnd(client, () => {
    forgotten += 1;
  });
  const counts: number[] = [];
  for (const login of [null, '2', '3', null, '4', null]) {
    await market.signIn(login);
    await client.tokenChanged();
    await client.query('{ news }', undefined, { account: 'nobody' });
    counts.push(forgotten);
  }
  expect(counts).toEqual([0, 0, 1, 2, 2, 3]);
});
