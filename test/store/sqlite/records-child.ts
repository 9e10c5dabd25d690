import { systemClock } from '../../../lib/clock.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import type { FromChild, ToChild } from './records-process.ts';

/** A process with a store of its own, which runs the calls of the test. */
const [, , path = '', max = '', maxPerAccount = ''] = process.argv;
const send = (message: FromChild) => void process.send?.(message);
try {
  const records = await openSqliteOrderRecords({
    path,
    max: Number(max),
    maxPerAccount: Number(maxPerAccount),
    clock: systemClock,
    onWarn: (warning) => send({ warning }),
  });
  process.on('message', async ({ id, call, args }: ToChild) => {
    try {
      const method = records[call] as (...args: unknown[]) => unknown;
      send({ id, value: await method(...args) });
    } catch (error) {
      send({ id, error: String(error) });
    }
    if (call === 'close') process.disconnect?.();
  });
  send({ open: true });
} catch (error) {
  send({ error: String(error) });
  process.disconnect?.();
}
