import { expect, test } from 'vitest';
import { cacheBudgets, withDefaults } from '../../src/app/app-options.ts';
import { oldHeapLimit } from '../../src/app/memory-watch.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/lib/log.ts';

const log = createLog({ level: 'error', destination: { write() {} } });

const sum = (budgets: object) => Object.values(budgets).reduce((all, bytes) => all + bytes, 0);

test('the budgets of the caches together are half of the heap', async () => {
  expect(sum(cacheBudgets(100_000_000))).toBe(100_000_000);
  const { cacheBytes } = withDefaults(readConfig({}), { log });
  expect(sum(cacheBytes) / oldHeapLimit()).toBeCloseTo(0.5);
});
