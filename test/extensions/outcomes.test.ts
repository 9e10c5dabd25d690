import { expect, test } from 'vitest';
import { createOutcomeBudgets } from '../../src/extensions/outcomes.ts';
import type { Context } from '../../src/schema/context.ts';

const MS = 60_000;

function path(root: string, ...below: readonly (readonly [key: string, typename: string])[]) {
  const first = { prev: undefined, key: root, typename: 'Mutation' };
  return below.reduce<typeof first>(
    (prev, [key, typename]) => ({ prev: prev as never, key, typename }),
    first,
  );
}

test('fields below an outcome share its time, and others have no other bound than their own', async () => {
  const leftFor = createOutcomeBudgets(new Set(['OrderAccepted']), MS);
  const context = {} as Context;
  const note = (root: string) => path(root, ['positions', 'OrderAccepted'], ['note', 'Position']);
  expect(leftFor(context, path('positions', ['note', 'Position']))).toBe(Number.POSITIVE_INFINITY);
  expect(leftFor(context, path('placeOrder'))).toBe(Number.POSITIVE_INFINITY);
  const first = leftFor(context, note('placeOrder'));
  expect(first).toBeCloseTo(MS);
  await new Promise(setImmediate);
  expect(leftFor(context, note('placeOrder'))).toBeLessThan(MS);
  expect(leftFor(context, note('again'))).toBeCloseTo(MS);
  expect(leftFor({} as Context, note('placeOrder'))).toBeCloseTo(MS);
});
