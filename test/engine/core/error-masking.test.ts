import { GraphQLError, type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import { ErrorMasking } from '../../../src/engine/core/error-masking.ts';
import { RequestSummary } from '../../../src/engine/core/request-summary.ts';
import type { PublicCause } from '../../../src/lib/error-codes.ts';
import { createLog } from '../../../src/lib/log.ts';

/** Masks an error that a resolver threw at each of these fields, with this description. */
function maskedAs(described: PublicCause, document = '{ field }') {
  const lines: string[] = [];
  const counted: unknown[] = [];
  const codes = new ErrorMasking({
    log: createLog({
      level: 'info',
      destination: { write: (line) => lines.push(line) },
    }),
    metrics: { error: (code) => counted.push(code), refusal: (limit) => counted.push(limit) },
    describe: () => described,
  });
  const summary = new RequestSummary('r', 'POST', null);
  const originalError = new Error('a secret');
  const query = parse(document).definitions[0] as OperationDefinitionNode;
  const errors = query.selectionSet.selections.map(
    (node) => new GraphQLError('a secret', { nodes: node, originalError }),
  );
  const [error] = codes.masked(errors, summary);
  return { error, summary, counted, lines, log: lines.join('') };
}

test('an unknown error is masked, counted, and logged with its stack', () => {
  const internal = { message: 'Something went wrong here.', extensions: { code: 'INTERNAL' } };
  const { error, summary, counted, log } = maskedAs(internal);
  expect(error?.toJSON()).toMatchObject({
    ...internal,
    extensions: { code: 'INTERNAL', requestId: 'r' },
  });
  expect(counted).toEqual(['INTERNAL']);
  expect(summary.outcome).toBe('fault');
  expect(log).toMatch(/a secret.*error-masking\.test\.ts/);
});

test('an error that several fields of a request share is logged once, and its limit counted once', () => {
  const extensions = { code: 'INTERNAL', limit: 'calls' };
  const { counted, lines } = maskedAs({ message: 'wrong', extensions }, '{ one two three }');
  expect(lines).toHaveLength(1);
  expect(counted).toEqual(['calls', 'INTERNAL', 'INTERNAL', 'INTERNAL']);
});

test('the outcome of a request is a fault after a failed call, and refused after a call over our own limit', () => {
  const away = maskedAs({ message: 'away', extensions: { code: 'GATEWAY_UNAVAILABLE' } });
  expect([away.summary.outcome, away.counted, away.log]).toEqual([
    'fault',
    ['GATEWAY_UNAVAILABLE'],
    '',
  ]);
  const over = maskedAs({
    message: 'away',
    extensions: { code: 'GATEWAY_UNAVAILABLE', limit: 'calls' },
  });
  expect([over.summary.outcome, over.counted]).toEqual([
    'refused',
    ['calls', 'GATEWAY_UNAVAILABLE'],
  ]);
});
