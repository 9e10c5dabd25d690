import { expect, test } from 'vitest';
import { capacityTable, measureCapacity } from '../../bench/support/capacity-figures.ts';
import { startLiveGateway } from '../../bench/support/live-gateway.ts';
import { describeWithHaproxy, describeWithRedis } from '../support/describe-with.ts';

const UNITS = Array.from({ length: 9 }, (_, at) => at);
describeWithHaproxy('the bench of capacity', () => {
  describeWithRedis('with a Redis', () => {
    test('says what each unit of work costs a process, and the calls it makes', async () => {
      await using gateway = await startLiveGateway({ instruments: 100 });
      const pace = { warmRounds: 0, rounds: 1, windowMs: 200, settleMs: 20, intervalMs: 100 };
      const figures = await measureCapacity(gateway, { ...pace, polled: 20, more: 50 });
      expect(figures.coreShare).toBeGreaterThan(0);
      expect(figures.units).toHaveLength(UNITS.length);
      for (const { cpu, calls } of figures.units) {
        // Windows this short tell no cost, but each has its requests and its events.
        expect(cpu.filter(Number.isFinite)).toHaveLength(1);
        expect(calls.filter(Number.isFinite)).toHaveLength(1);
      }
      const text = capacityTable(figures);
      for (const { name } of figures.units) expect(text).toContain(`| ${name} | `);
    });
  });
});
