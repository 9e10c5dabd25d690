import { systemClock } from '../../src/lib/clock.ts';
import { openSqliteOrderRecords } from '../../src/store/sqlite-order-records.ts';
import type { Asked, Told } from './records-process.ts';

/** A process with a store of its own, which does what the test asks it for. */
const [, , path = '', max = ''] = process.argv;
const tell = (message: Told) => void process.send?.(message);
try {
  const records = await openSqliteOrderRecords({
    path,
    max: Number(max),
    clock: systemClock,
    onWarn: (warning) => tell({ warning }),
  });
  process.on('message', async ({ id, call, args }: Asked) => {
    try {
      const method = records[call] as (...args: unknown[]) => unknown;
      tell({ id, value: await method(...args) });
    } catch (error) {
      tell({ id, error: String(error) });
    }
    if (call === 'close') process.disconnect?.();
  });
  tell({ open: true });
} catch (error) {
  tell({ error: String(error) });
  process.disconnect?.();
}
