import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ANSWER_SHAPES } from '../../src/gateway/interface/answer-shapes.ts';
import { compare } from '../../src/gateway/interface/compare.ts';
import { OPERATION_NAMES, OPERATIONS } from '../../src/gateway/operations.ts';
import { runCli } from '../support/run-cli.ts';

const PUBLISHED = readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8');

test('the command prints the published document', async () => {
  const { code, out } = await runCli(['interface']);
  expect({ code, out }).toEqual({ code: 0, out: PUBLISHED });
});

test.each(OPERATION_NAMES)(
  'the example of an answer of %s is one that the service reads whole',
  (name) => {
    const { path, verb } = OPERATIONS[name];
    const { responses } = JSON.parse(PUBLISHED).paths[path][verb.toLowerCase()];
    const { example } = responses[200].content['application/json'];
    const { fields, unknown } = compare(ANSWER_SHAPES[name], example, Date.now());
    expect(unknown).toEqual([]);
    expect(
      fields.filter(({ isWrong, loss }) => isWrong || loss === 'row' || loss === 'answer'),
    ).toEqual([]);
  },
);
