import { writeSync } from 'node:fs';
import { systemClock } from '../../../src/lib/clock.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';

/**
 * A process to be killed: reserves and settles as fast as it can, several at a time, and prints each
 * key once its promise is given. Started as `node order-writer.ts <file> <name>`.
 */
const [, , path = '', name = ''] = process.argv;
const records = await openSqliteOrderRecords({
  ...{ path, max: 1_000_000, clock: systemClock },
  onWarn: (warning) => process.stderr.write(`${warning}\n`),
});

async function write(worker: number): Promise<void> {
  for (let n = 0; n < 100_000; n += 1) {
    const key = `${name}-${worker}-${n}`;
    const answer = await records.reserve({
      ...{ login: '1', key, canonical: 'c', reservedAtMs: Date.now(), pendingMs: 60_000 },
    });
    if (!answer.reserved) throw new Error(`${key} is taken`);
    writeSync(1, `reserved ${key}\n`);
    if (n % 3 === 0) continue;
    await records.settle(answer.reservation, { kind: 'accepted', orderId: key, message: null });
    writeSync(1, `settled ${key}\n`);
  }
}

writeSync(1, 'open\n');
await Promise.all([0, 1, 2, 3, 4].map(write));
