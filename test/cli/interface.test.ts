import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compare } from '../../src/check/gateway/compare.ts';
import { answerOf } from '../../src/check/gateway/probe.ts';
import { OPERATION_NAMES, OPERATIONS } from '../../src/gateway/operations.ts';
import { runCli } from '../support/run-cli.ts';

const docs = join(import.meta.dirname, '../../docs');
const PUBLISHED = readFileSync(join(docs, 'openapi.json'), 'utf8');
const PAGE = readFileSync(join(docs, 'gateway.md'), 'utf8');

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
    const { fields, unknown } = compare(answerOf(name), example, Date.now());
    expect(unknown).toEqual([]);
    expect(
      fields.filter(({ isWrong, loss }) => isWrong || loss === 'row' || loss === 'answer'),
    ).toEqual([]);
  },
);

test('the page about the gateway has a row of each operation', () => {
  const rows = PAGE.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  const told = rows.map((row) => row.split('|').slice(1, 3).join('').replaceAll(' ', ''));
  const wanted = OPERATION_NAMES.map((name) => {
    const { number, verb, path } = OPERATIONS[name];
    return `${number}\`${verb}${path}\``;
  });
  expect(told).toEqual(wanted);
});
