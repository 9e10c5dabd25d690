import { expect, test } from 'vitest';
import { soak } from '../../support/soak.ts';

const MEGABYTE = 1024 * 1024;
const STEP = 150;
/** After so many requests the caches are full. */
const WARM = 600;
const REQUESTS = 1_200;
// Measured were 0.5 to 2 kB of growth per request, and 13 kB with caches that never evict.
const MAX_PER_REQUEST = 5 * 1024;

test('changing documents, variables and catalogs fill only the caches', async () => {
  const samples = await soak({
    requests: REQUESTS,
    step: STEP,
    cacheBytes: { documents: 2 * MEGABYTE, answers: 2 * MEGABYTE },
  });
  const [warm, ...later] = samples.filter(({ requests }) => requests >= WARM);
  const last = later.slice(-3).map(({ bytes }) => bytes);
  const growth = Math.min(...last) - (warm?.bytes ?? 0);
  const shown = samples.map(({ bytes, requests }) => `${requests}: ${bytes}`).join(', ');
  expect(growth, shown).toBeLessThan((REQUESTS - WARM) * MAX_PER_REQUEST);
}, 300_000);
