import { expect, test } from 'vitest';
import { oldHeapLimit } from '../../lib/heap-limit.ts';
import { createLog } from '../../lib/log.ts';
import { withDefaults } from '../../src/app/app-options.ts';
import { cacheBudgets } from '../../src/app/cache-budgets.ts';
import { readConfig } from '../../src/config.ts';
import { loadExtensions } from '../../src/extensions/load-extensions.ts';

const sum = (budgets: object) => Object.values(budgets).reduce((all, bytes) => all + bytes, 0);

test('the budgets of the caches are half of the heap together', async () => {
  expect(sum(cacheBudgets(100_000_000))).toBe(100_000_000);
  const log = createLog({ level: 'error', format: 'json', destination: { write() {} } });
  const { cacheBytes } = withDefaults(readConfig({}), { log }, await loadExtensions([]));
  expect(sum(cacheBytes) / oldHeapLimit()).toBeCloseTo(0.5);
});
