import { expect, test } from 'vitest';
import { startLiveGateway } from '../../bench/support/live-gateway.ts';
import { KINDS, measureReplicas } from '../../bench/support/replica-figures.ts';
import { replicaTables } from '../../bench/support/replica-tables.ts';
import { describeWithHaproxy, describeWithRedis } from '../support/describe-with.ts';

describeWithHaproxy('the bench of replicas', () => {
  describeWithRedis('with a Redis', () => {
    test('says what each unit of work costs two processes', async () => {
      await using gateway = await startLiveGateway({ instruments: 100 });
      const pace = { warmMs: 100, sampleMs: 200, accounts: 40, intervalMs: 300, windowMs: 900 };
      const figures = await measureReplicas(2, gateway, pace);
      expect(Object.keys(figures.requests).sort()).toEqual([...KINDS].sort());
      for (const cpu of Object.values(figures.requests)) {
        expect(cpu).toBeGreaterThan(5);
        expect(cpu).toBeLessThan(1_000_000);
      }
      expect(figures.event).not.toBeNaN();
      expect(figures.poll).not.toBeNaN();
      expect(figures.memory.base).toBeGreaterThan(10_000_000);
      const text = replicaTables([figures]);
      for (const name of [...KINDS, 'poll of an account', 'event of a socket']) {
        expect(text).toContain(`| ${name} | `);
      }
      expect(text).toContain('2 processes');
    });
  });
});
