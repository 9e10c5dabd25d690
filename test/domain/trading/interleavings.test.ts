import { describe, expect, test } from 'vitest';
import { createMemoryOrderRecords } from '../../../src/store/memory/order-records.ts';
import type { OrderRecords } from '../../../src/store/order-records.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { explore } from './interleaving/explore.ts';
import { beginRun } from './interleaving/run.ts';
import { SCENARIOS, type Scenario } from './interleaving/scenario.ts';

/** A new memory for each run, which both replicas share. */
function begin(
  scenario: Scenario,
  change: (records: OrderRecords) => Partial<OrderRecords> = () => ({}),
) {
  const clock = createScriptedClock();
  const uptimeMs = () => clock.now();
  const shared = createMemoryOrderRecords({ max: 10, uptimeMs });
  const records = { ...shared, ...change(shared) };
  return beginRun(scenario, { clock, records: [records, records], readers: [shared], key: 'k' });
}

describe('in whatever order things happen, nothing is sent after it was voided, nor voided after it was sent, and all are told the same', () => {
  test.each(Object.entries(SCENARIOS))(
    '%s',
    async (_, scenario) => {
      const { runs, isExhaustive } = await explore(() => begin(scenario));
      expect(isExhaustive).toBe(true);
      expect(runs).toBeGreaterThan(500);
    },
    600_000,
  );
});

describe('the rules find records that', () => {
  const scenario = SCENARIOS['an order and a void'] as Scenario;

  test('close a key whose order is under way', async () => {
    const careless = (records: OrderRecords): Partial<OrderRecords> => ({
      async voidKey(request) {
        const { record } = await records.voidKey(request);
        if (record.outcome === null) {
          await records.release({ ...record, ...request, pendingMs: 1 });
        }
        return records.voidKey(request);
      },
    });
    await expect(explore(() => begin(scenario, careless))).rejects.toThrow('after: ');
  });
});
