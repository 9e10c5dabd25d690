import { expect, test } from 'vitest';
import { withDefaults } from '../../src/app/app-options.ts';
import { cacheBudgets } from '../../src/app/cache-budgets.ts';
import { readConfig } from '../../src/config.ts';
import { oldHeapLimit } from '../../src/lib/heap-limit.ts';
import { createLog } from '../../src/lib/log.ts';
import { startTestApp } from '../support/app.ts';

const sum = (budgets: object) => Object.values(budgets).reduce((all, bytes) => all + bytes, 0);

test('the budgets of the caches are half of the heap together', () => {
  expect(sum(cacheBudgets(100_000_000))).toBe(100_000_000);
  const log = createLog({ level: 'error', format: 'json', destination: { write() {} } });
  const { cacheBytes } = withDefaults(readConfig({}), { log });
  expect(sum(cacheBytes) / oldHeapLimit()).toBeCloseTo(0.5);
});

test('the caches of a process stay within their budgets', async () => {
  const { documents, sessions } = cacheBudgets(16_777_216);
  await using app = await startTestApp(
    { RATE_LIMIT_PER_MINUTE: '100000', LOG_LEVEL: 'error' },
    { cacheBytes: { documents, sessions } },
  );
  // Documents that nobody asks for again: one of each weighs some 10 kB.
  for (let at = 0; at < 150; at += 1) {
    const fields = Array.from({ length: 10 }, (_, n) => `f${at}_${n}: __typename`);
    expect((await app.query(`{ ${fields.join(' ')} }`)).errors).toEqual([]);
  }
  const metrics = await (await fetch(`${app.adminUrl}/metrics`)).text();
  const bytes = (cache: string) =>
    Number(new RegExp(`cache_bytes\\{cache="${cache}"\\} (\\d+)`).exec(metrics)?.[1]);
  expect(bytes('document')).toBeGreaterThan(documents / 2);
  expect(bytes('document')).toBeLessThanOrEqual(documents);
  expect(bytes('session')).toBeLessThanOrEqual(sessions);
});
