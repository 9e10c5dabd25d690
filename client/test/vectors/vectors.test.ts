import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { type Case, CaseRun } from './case-run.ts';

const folder = join(import.meta.dirname, '..', '..', 'vectors');
const PAGE = join(folder, 'README.md');

interface Family {
  readonly event: object;
  readonly cases: readonly Case[];
}

const families = globSync('*.json', { cwd: folder })
  .sort()
  .map((file) => {
    const family: Family = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    return { name: basename(file, '.json'), ...family };
  });

const play = (event: object, each: Case) =>
  new CaseRun(event ?? {}, each.heartbeatSeconds ?? 15, { resends: each.resends ?? true }).play(
    each,
  );

describe.each(families)('$name', ({ event, cases }) => {
  test.each(cases)('$rule: $name', (each) => play(event, each));
});

test('each rule of the page has cases, and each case a rule', () => {
  const rules = [...readFileSync(PAGE, 'utf8').matchAll(/^- \*\*([A-Z]\d+)\*\*/gm)].map(
    ([, rule]) => rule,
  );
  const tested = families.flatMap(({ cases }) => cases.map(({ rule }) => rule));
  expect(rules.toSorted()).toEqual([...new Set(tested)].toSorted());
});

test('the operations of the page are valid', () => {
  const schema = buildSchema(readFileSync(join(folder, '../../schema.graphql'), 'utf8'));
  const page = readFileSync(PAGE, 'utf8').replaceAll('\n  ', ' ');
  const documented = [...page.matchAll(/`((?:mutation|subscription) \(.*?\})`/g)].map(
    ([, one = '']) => one,
  );
  const [, outcome = ''] = /`(\{ __typename \.\.\. on OrderOutcome .*?)`/.exec(page) ?? [];
  const query = `{ placedOrder(idempotencyKey: "1") ${outcome} }`;
  expect(documented).toHaveLength(2);
  for (const one of [...documented, query]) expect(validate(schema, parse(one))).toEqual([]);
});
