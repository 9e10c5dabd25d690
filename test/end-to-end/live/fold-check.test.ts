import { expect, test } from 'vitest';
import { checkFolding } from './fold-check.ts';

test.concurrent.each([
  ['a snapshot that lags', { lagMs: { getSession: 300 } }],
  ['a list that lags', { lagMs: { getOpenPositions: 600 } }],
  ['answers that take their time', { delayMs: { getSession: 150, getOpenPositions: 100 } }],
  ['a snapshot that fails, and lags', { lagMs: { getSession: 300 }, failEvery: { getSession: 3 } }],
  ['a list that fails', { failEvery: { getOpenPositions: 3 } }],
] as const)(
  'with %s, no list that is shown never was or goes back, and no order is nowhere for long',
  async (_what, gateway) => {
    const { problems, events, queries } = await checkFolding({ seed: 7, steps: 60, ...gateway });
    expect(problems).toEqual([]);
    // With fewer the account would have been too quiet to show anything.
    expect(events).toBeGreaterThan(30);
    expect(queries).toBeGreaterThan(10);
  },
);
