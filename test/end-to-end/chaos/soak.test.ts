import { expect, test } from 'vitest';
import { OPERATIONS, type OperationName } from '../../../src/gateway/operations.ts';
import { soak as soakCaches } from '../../support/soak.ts';
import { soak } from './soak.ts';

const LOST = 'GATEWAY_(UNAVAILABLE|TIMEOUT)';
const CHANGED = 'Acknowledged|Rejected|OUTCOME_UNKNOWN|RATE_LIMITED';

/** The outcomes that the contract allows with and without a network fault; small writes have limits as well. */
const ALLOWED: Readonly<Record<string, RegExp>> = {
  read: new RegExp(`^(data|${LOST})$`),
  write: new RegExp(`^(${CHANGED}|${LOST})$`),
  order: new RegExp(`^(Order(Accepted|Rejected|OutcomeUnknown)|RATE_LIMITED|${LOST})$`),
  // A sign-in changes no data, so like a read it has no unknown outcome.
  login: new RegExp(`^(LoginSuccess|${LOST})$`),
};

function isAllowed(said: string): boolean {
  const [operation = '', outcome = ''] = said.split(/: (.*)/s);
  const { effect } = OPERATIONS[operation as OperationName];
  return ALLOWED[operation === 'login' ? operation : effect]?.test(outcome) ?? false;
}

// `scripts/soak-chaos.ts` runs it for ten minutes.
test('in storms of each kind each operation is answered as the contract says, afterwards all is served again by itself, and the heap is as large as after the first', async () => {
  const { beforeBytes, afterBytes, said, errorLines } = await soak({
    forMs: 8_000,
    leastAnswers: 300,
  });
  expect([...said.keys()].filter((each) => !isAllowed(each))).toEqual([]);
  expect(errorLines).toEqual([]);
  expect(afterBytes).toBeLessThan(beforeBytes * 1.1);
}, 600_000);

const MEGABYTE = 1024 * 1024;
const STEP = 150;
const WARM = 600;
const REQUESTS = 1_200;
// Measured: half a kilobyte or two; with caches that never evict, thirteen.
const MAX_PER_REQUEST = 5 * 1024;

// `scripts/soak.ts` does the same for any duration.
test('changing documents, variables and catalogs fill the caches and nothing beside them', async () => {
  const samples = await soakCaches({
    rests: ({ requests }) => requests >= STEP,
    ends: ({ requests }) => requests >= REQUESTS,
    cacheBytes: { documents: 2 * MEGABYTE, answers: 2 * MEGABYTE },
  });
  const [warm, ...later] = samples.filter(({ requests }) => requests >= WARM);
  const last = later.slice(-3).map(({ bytes }) => bytes);
  const growth = Math.min(...last) - (warm?.bytes ?? 0);
  const shown = samples.map(({ bytes, requests }) => `${requests}: ${bytes}`).join(', ');
  expect(growth, shown).toBeLessThan((REQUESTS - WARM) * MAX_PER_REQUEST);
}, 300_000);
