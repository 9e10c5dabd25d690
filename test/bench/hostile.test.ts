import { readFileSync } from 'node:fs';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { KNOWN_DOCUMENTS, writerOf } from '../../bench/support/hostile/known-documents.ts';
import { runHostile } from '../../bench/support/hostile/run-hostile.ts';
import { inFull } from '../support/in-full.ts';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

test.each(KNOWN_DOCUMENTS)('$name: it is still valid', ({ kind, ...known }) => {
  const document = parse(writerOf(known)().text);
  expect(validate(schema, document)).toEqual([]);
  const operation = kind === 'event' ? 'subscription' : 'query';
  expect(document.definitions[0]).toMatchObject({ operation });
});

test('what documents do to the others is measured', { timeout: 600_000 }, async () => {
  const attacks = inFull(KNOWN_DOCUMENTS, KNOWN_DOCUMENTS.slice(0, 2));
  const holdings = { instruments: 500, positions: 60 };
  const { harms, text } = await runHostile({ attacks, ...holdings, ms: 500, settings: {} });
  expect(harms.map(({ name }) => name)).toEqual(['nobody', ...attacks.map(({ name }) => name)]);
  for (const { name, end, holdMs, cheap, personal, report } of harms) {
    expect(end, name).toBe('alive');
    expect(holdMs, name).not.toBe(null);
    expect(cheap.asked, name).toBeGreaterThan(0);
    expect(personal.asked, name).toBeGreaterThan(0);
    if (name !== 'nobody') expect(report, name).toMatch(/[1-9]/);
    expect(text).toContain(`| ${name} | `);
  }
});
