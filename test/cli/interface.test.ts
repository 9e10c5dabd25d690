import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compare } from '../../src/check/gateway/compare.ts';
import { answerOf } from '../../src/check/gateway/probe.ts';
import { firstCallOf } from '../../src/gateway/operation.ts';
import { OPERATION_NAMES, OPERATIONS } from '../../src/gateway/operations.ts';
import { runCli } from '../support/run-cli.ts';

const docs = join(import.meta.dirname, '../../docs');
const PUBLISHED = readFileSync(join(docs, 'openapi.json'), 'utf8');

test('the command prints the published document', async () => {
  const { code, out } = await runCli(['interface']);
  expect({ code, out }).toEqual({ code: 0, out: PUBLISHED });
});

test.each(OPERATION_NAMES)(
  'the example of an answer of %s is one that the service reads whole',
  (name) => {
    const { path, method } = firstCallOf(OPERATIONS[name]);
    const { responses } = JSON.parse(PUBLISHED).paths[path][method.toLowerCase()];
    const { example } = responses[200].content['application/json'];
    const { fields, unknown } = compare(answerOf(name), example, Date.now());
    expect(unknown).toEqual([]);
    expect(
      fields.filter(({ isWrong, loss }) => isWrong || loss === 'row' || loss === 'answer'),
    ).toEqual([]);
  },
);
