import { expect, test } from 'vitest';
import { checkFolding } from './fold-check.ts';

test.concurrent.each([
  ['a snapshot that lags', { getSession: 300 }, {}],
  ['a list that lags', { getOpenPositions: 600 }, {}],
  ['answers that take their time', {}, { getSession: 150, getOpenPositions: 100 }],
])(
  'with %s, no list that is shown never was or goes back, and no order is nowhere for long',
  async (_what, lagMs, delayMs) => {
    const { problems, events, queries } = await checkFolding({
      seed: 7,
      steps: 60,
      lagMs,
      delayMs,
    });
    expect(problems).toEqual([]);
    // With fewer the account would have been too quiet to show anything.
    expect(events).toBeGreaterThan(30);
    expect(queries).toBeGreaterThan(10);
  },
);
