import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Case, CaseRun } from './case-run.ts';

const folder = join(import.meta.dirname, '..', '..', 'vectors');
const PAGE = join(folder, '..', '..', 'docs', 'clients', 'protocol.md');

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

const play = (event: object, each: Case, environment = {}) =>
  new CaseRun(event ?? {}, each.heartbeatSeconds ?? 15, {
    resends: each.resends ?? true,
    ...environment,
  }).play(each);

describe.each(families)('$name', ({ event, cases }) => {
  test.each(cases)('$rule: $name', (each) => play(event, each));
});

const LINES = families.filter(({ name }) => /folds|lines|tokens/.test(name));

describe.each(LINES)('$name over event streams', ({ event, cases }) => {
  const own = cases.filter(({ needs = [] }) => !needs.some((one) => /socket|closer/.test(one)));
  test.each(own)('$rule: $name', (each) => play(event, each, { WebSocket: null }));
});

test('each rule of the page has cases, and each case a rule', () => {
  const rules = [...readFileSync(PAGE, 'utf8').matchAll(/^- \*\*([A-Z]\d+)\*\*/gm)].map(
    ([, rule]) => rule,
  );
  const told = families.flatMap(({ cases }) => cases.map(({ rule }) => rule));
  expect(rules.toSorted()).toEqual([...new Set(told)].toSorted());
});
