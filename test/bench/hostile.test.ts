import { expect, test } from 'vitest';
import { runBytes } from '../../bench/support/hostile/bytes/run-bytes.ts';
import { KINDS } from '../../bench/support/hostile/kinds.ts';
import { KNOWN_DOCUMENTS } from '../../bench/support/hostile/known-documents.ts';
import { PLAIN, SHAPES } from '../../bench/support/hostile/largest-documents.ts';
import { runGrammar } from '../../bench/support/hostile/run-grammar.ts';
import { runHostile } from '../../bench/support/hostile/run-hostile.ts';

const MAX_COST = 5_000;

test('the search finds a document for each kind, and among them one with many of the fields that the limits allow', {
  timeout: 600_000,
}, async () => {
  const { findings, searches, text } = await runHostile({
    seed: 'small',
    holdings: { instruments: 500, positions: 60, tickMs: 100 },
    // As many tries on a busy machine as on a fast one.
    searchMs: 1,
    leastTries: 25,
    damageMs: 500,
    settings: { MAX_COST: String(MAX_COST) },
  });
  expect(searches.map(({ kind }) => kind)).toEqual(KINDS);
  for (const { kind, climb } of searches) {
    expect(climb.worst.length, kind).toBeGreaterThan(0);
    expect(text).toContain(`| ${kind}: `);
  }
  expect(findings).toHaveLength(KNOWN_DOCUMENTS.length + KINDS.length);
  for (const { name, document, damage } of findings) {
    expect(document.text, name).toContain(name.startsWith('event') ? 'subscription' : 'query');
    expect(damage.bystander.asked, name).toBeGreaterThan(0);
    expect(damage.replies, name).not.toBe('none');
    expect(text).toContain(`| ${name} | \``);
  }
  const mostFields = Math.max(...searches.map(({ climb }) => climb.mostFields));
  // A search of minutes comes to all of them; so few tries do to a fifth or more.
  expect(mostFields).toBeGreaterThanOrEqual(MAX_COST / 10);
});

test('the largest document of each thing in the grammar is sent, and answered', {
  timeout: 180_000,
}, async () => {
  const holdings = { instruments: 500, positions: 0, tickMs: 1_000 };
  const { rows, text } = await runGrammar({ holdings, settings: {}, leastTries: 1 });
  expect(rows.map(({ name }) => name)).toEqual([PLAIN, ...SHAPES].map(({ name }) => name));
  for (const { name, trial, tokens } of rows) {
    expect(trial.verdict, name).not.toBe('stuck');
    expect(tokens, name).toBeLessThanOrEqual(4_000);
    expect(text).toContain(`| ${name} |`);
  }
});

test('senders of bytes are made up, and measured beside a known one', {
  timeout: 600_000,
}, async () => {
  const { climb, damages, text } = await runBytes({
    seed: 'small',
    holdings: { instruments: 500, positions: 0, tickMs: 1_000 },
    searchMs: 1,
    leastTries: 2,
    damageMs: 500,
    settings: {},
    front: 'direct',
    only: 'WebSocket pings',
  });
  expect(climb?.tried).toBeGreaterThanOrEqual(2);
  expect(damages).toHaveLength(2);
  for (const { hasEnded, report, cheap } of damages) {
    expect(hasEnded).toBe(false);
    expect(report.opened).toBeGreaterThan(0);
    expect(cheap.asked).toBeGreaterThan(0);
  }
  expect(text).toContain('| 8 sockets, WebSocket pings |');
  expect(text).toContain('| found: ');
});
