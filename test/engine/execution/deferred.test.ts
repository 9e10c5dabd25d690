import { type ExecutionResult, GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import type { PartResults } from '../../../src/engine/documents/compiler/compiling-executor.ts';
import { deferredAnswer } from '../../../src/engine/execution/execution.ts';
import { atMost } from '../../support/steps.ts';

/** The options of an answer whose parts are sent unchanged. */
const OPTIONS = {
  masked: <Part extends object>(part: Part) => part,
  last: <Part extends object>(part: Part) => part,
  charge: () => {},
  ended: () => {},
};

async function messagesOf(answer: AsyncIterable<unknown>): Promise<unknown[]> {
  const messages: unknown[] = [];
  for await (const part of atMost(10, answer)) messages.push(JSON.parse(JSON.stringify(part)));
  return messages;
}

/** An answer of the executor with these parts. An `Error` among them makes the executor fail in its place. */
function partsOf(initialResult: object, ...later: readonly (object | Error)[]): PartResults {
  async function* rest() {
    for (const part of later) {
      if (part instanceof Error) throw part;
      yield part;
    }
  }
  return { initialResult, subsequentResults: rest() } as PartResults;
}

test('an answer that fails after its first part ends with the error and `hasNext: false`', async () => {
  const parts = partsOf({ data: { here: 1 }, hasNext: true }, new Error('a fault'));
  const messages = await messagesOf(deferredAnswer(parts, OPTIONS));
  expect(messages).toMatchObject([
    { data: { here: 1 } },
    { errors: [{ message: 'a fault' }], hasNext: false },
  ]);
});

test('each error of a part is masked, and the last part has the extensions', async () => {
  const errors = [new GraphQLError('a secret')];
  const parts = partsOf(
    { data: {}, errors, pending: [{ id: '0', path: [] }], hasNext: true },
    { incremental: [{ id: '0', data: { a: null }, errors }], completed: [], hasNext: true },
    { completed: [{ id: '0', errors }], hasNext: false },
  );
  const masked = <Part extends ExecutionResult | object>(part: Part): Part =>
    'errors' in part ? { ...part, errors: [new GraphQLError('masked')] } : part;
  const last = (part: object) => ({ ...part, extensions: { at: 'the end' } });
  const messages = await messagesOf(deferredAnswer(parts, { ...OPTIONS, masked, last }));
  expect(JSON.stringify(messages)).not.toContain('secret');
  expect(messages.at(-1)).toEqual({
    completed: [{ id: '0', errors: [{ message: 'masked' }] }],
    extensions: { at: 'the end' },
    hasNext: false,
  });
});
