import { type OperationDefinitionNode, parse } from 'graphql';
import { expect, test } from 'vitest';
import { overMemory } from '../../../engine/admission/memory-limit.ts';

test.each([
  ['a screen of one account', 'query Home { a }', 1_000, false],
  ['a list of what all share', 'query Catalog { a }', 1_001, true],
  ['a subscription, which stays', 'subscription Live { a }', 1, true],
  ['a write, which must not be lost', 'mutation Order { a }', 100_000, false],
])('while memory is short, %s is refused: %s of cost %i: %s', (_what, text, cost, isRefused) => {
  const [node] = parse(text).definitions;
  const refusal = overMemory({ node: node as OperationDefinitionNode }, cost);
  expect(refusal?.status).toBe(isRefused ? 503 : undefined);
});
