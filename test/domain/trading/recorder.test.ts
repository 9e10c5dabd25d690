import { expect, test } from 'vitest';
import type { Clock } from '../../../lib/clock.ts';
import { createRecorder } from '../../../src/domain/trading/recorder.ts';
import { createMemoryOrderRecords } from '../../../src/store/memory/order-records.ts';
import { RECORD_LIFE_MS } from '../../../src/store/order-records.ts';
import { reserved } from '../../store/order-records-contract.ts';
import { createTestLog } from './order-stage.ts';

/** Time passes as fast as timers are set, for two lives of a record. */
function createHastyClock(): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    date: () => nowMs,
    after(ms, task) {
      if (nowMs > 2 * RECORD_LIFE_MS) throw new Error('timers are set for longer than that');
      const timer = setImmediate(() => {
        nowMs += ms;
        task();
      });
      return () => clearImmediate(timer);
    },
  };
}

test('an outcome that no store takes is tried for as long as its record lives, and the log says both', async () => {
  const records = createMemoryOrderRecords({ max: 1, uptimeMs: () => 0 });
  const reservation = await reserved(records, '1', 'k');
  const [clock, log] = [createHastyClock(), createTestLog()];
  const settle = () => Promise.reject(new Error('away'));
  const recorder = createRecorder({ records: { ...records, settle }, clock, log });
  await recorder.settle(reservation, { kind: 'accepted', orderId: '1', message: null });
  await Promise.all(recorder.unwritten);
  expect(log.lines).toEqual([
    'the outcome of an order could not be recorded; trying again',
    'the outcome of an order was never recorded',
  ]);
  expect(clock.now()).toBeGreaterThanOrEqual(RECORD_LIFE_MS - 2_000);
  expect(clock.now()).toBeLessThan(RECORD_LIFE_MS + 60_000);
  expect([...recorder.unwritten]).toEqual([]);
});
