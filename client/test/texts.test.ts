import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import texts from '../texts.json' with { type: 'json' };

const root = join(import.meta.dirname, '..', '..');
const page = (name: string) => readFileSync(join(root, name), 'utf8');

test('texts.json has every code of docs/errors.md, with the text to show there', () => {
  const errors = page('docs/errors.md');
  const sections = [...errors.matchAll(/^### ([A-Z_]+)\n([\s\S]*?)(?=^### |$(?![\s\S]))/gm)];
  expect(sections.map(([, code]) => code)).toEqual(Object.keys(texts.errors));
  const [, usual = ''] = /no text to show, show “(.*)”/.exec(errors) ?? [];
  for (const [code, { retryable, ...shown }] of Object.entries(texts.errors)) {
    const [, , text = ''] = sections.find(([, name]) => name === code) ?? [];
    const [, line = `“${usual}”`] = /^- Show: (.*)$/m.exec(text) ?? [];
    const others = 'showInstead' in shown ? Object.values<string>(shown.showInstead) : [];
    expect([...line.matchAll(/“(.*?)”/g)].map(([, each]) => each)).toEqual([shown.show, ...others]);
    if (!text.includes('only if')) expect(text).toContain(`- Retry: ${retryable ? 'yes' : 'no'}.`);
  }
});

test('an app without `progress` shows that an order is being sent', () => {
  expect(texts.orders.placing).toBe(texts.orders.sending);
});
