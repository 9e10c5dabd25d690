import { systemClock } from '../../../lib/clock.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import type { FromChild, ToChild } from './records-process.ts';

/** A process with a store of its own, which runs the calls of the test. */
const [, , path = ''] = process.argv;
const send = (message: FromChild) => void process.send?.(message);
const records = await openSqliteOrderRecords({
  path,
  max: 1_000_000,
  clock: systemClock,
  onWarn: (warning) => send({ warning }),
});
process.on('message', async ({ id, call, args }: ToChild) => {
  const method = records[call] as (...args: unknown[]) => unknown;
  try {
    send({ id, value: await method(...args) });
  } catch (error) {
    send({ id, error: String(error) });
  }
});
send({ open: true });
