import fc from 'fast-check';
import { type ExecutionResult, GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { COSTLY_FIELDS } from '../../../engine/cost/meter.ts';
import { jsonBytes, jsonText } from '../../../engine/results/json-text.ts';
import { turnsDuring } from '../../support/turns.ts';
import { meterFor } from '../execution/both-executors.ts';

async function textOf(result: ExecutionResult): Promise<string> {
  const meter = costly();
  return String(await jsonBytes(await jsonText(result, meter), meter));
}

const costly = () => meterFor(1_000_000, COSTLY_FIELDS + 1, 5);

test('an answer written in slices reads like one written in one go', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue({ maxDepth: 6 }), { maxLength: 400 }),
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      async (rows, more) => {
        const result = { data: { ...more, rows, nested: { rows, again: [rows, rows] } } };
        expect(await textOf(result)).toBe(JSON.stringify(result));
      },
    ),
    { numRuns: 60 },
  );
});

test('errors are written as errors, undefined is left out', async () => {
  const rows = Array.from({ length: 600 }, (_, id) => ({ id, left: undefined, list: [undefined] }));
  const errors = [new GraphQLError('wrong', { path: ['rows', 3], extensions: { code: 'SOME' } })];
  const result = { data: { rows }, errors, extensions: undefined as never };
  expect(await textOf(result)).toBe(JSON.stringify(result));
});

test('writing and joining a large answer yields to other tasks', async () => {
  const rows = Array.from({ length: 200_000 }, (_, id) => ({ id, name: `row ${id}`, ids: [id] }));
  expect(await turnsDuring(async () => jsonText({ data: { rows } }, costly()))).toBeGreaterThan(3);
  const slices = meterFor(1_000_000, COSTLY_FIELDS + 1, 0);
  const short = { data: { list: Array(20_000).fill(0) } };
  expect(await turnsDuring(async () => jsonText(short, slices))).toBeGreaterThan(100);
  const chunks = Array.from({ length: 10 }, () => Buffer.from('x'));
  expect(await turnsDuring(async () => jsonBytes(chunks, slices))).toBeGreaterThan(3);
});
