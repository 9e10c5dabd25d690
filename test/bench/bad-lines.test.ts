import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BEFORE_AFTER_HEAD, beforeAfter } from '../../bench/before-after.ts';
import { table } from '../../bench/support/markdown.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/clients/bad-lines.md'), 'utf8');

test('the figures beside what users saw before are those of the page’s tables', () => {
  expect(page).toContain(table(BEFORE_AFTER_HEAD, beforeAfter(page)));
});

test('a figure that the page lacks is an error', () => {
  const without = page.replaceAll('flight mode, Buy | React', 'flight mode | React');
  expect(() => beforeAfter(without)).toThrow('the page has no guides of flight mode, Buy');
});
