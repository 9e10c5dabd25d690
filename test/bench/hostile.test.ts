import { expect, test } from 'vitest';
import { runBytes } from '../../bench/support/hostile/bytes/run-bytes.ts';
import { KNOWN_DOCUMENTS } from '../../bench/support/hostile/known-documents.ts';
import { PLAIN, SHAPES } from '../../bench/support/hostile/largest-documents.ts';
import { runGrammar } from '../../bench/support/hostile/run-grammar.ts';
import { runHostile } from '../../bench/support/hostile/run-hostile.ts';

test('what known documents do to the others is measured', { timeout: 600_000 }, async () => {
  const { findings, text } = await runHostile({
    holdings: { instruments: 500, positions: 60, tickMs: 100 },
    damageMs: 500,
    settings: {},
  });
  expect(findings.map(({ name }) => name)).toEqual(KNOWN_DOCUMENTS.map(({ name }) => name));
  for (const { name, document, damage } of findings) {
    expect(document.text, name).toContain(name.startsWith('event') ? 'subscription' : 'query');
    expect(damage.bystander.asked, name).toBeGreaterThan(0);
    expect(damage.replies, name).not.toBe('none');
    expect(text).toContain(`| ${name} | \``);
  }
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

test('what a known sender of bytes does to the others is measured', {
  timeout: 600_000,
}, async () => {
  const { damages, text } = await runBytes({
    holdings: { instruments: 500, positions: 0, tickMs: 1_000 },
    damageMs: 500,
    settings: {},
    front: 'direct',
    only: 'WebSocket pings',
  });
  expect(damages).toHaveLength(1);
  for (const { hasEnded, report, cheap } of damages) {
    expect(hasEnded).toBe(false);
    expect(report.opened).toBeGreaterThan(0);
    expect(cheap.asked).toBeGreaterThan(0);
  }
  expect(text).toContain('| 8 sockets, WebSocket pings |');
});
