import { appendFileSync } from 'node:fs';
import { systemClock } from '../../../src/lib/clock.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/sqlite-records.ts';
import { datesBy } from '../../support/dates.ts';
import { request } from '../order-records-contract.ts';

// Reserves orders until the process is killed, and logs each key once its order may be sent.
const [path = '', log = '', name = ''] = process.argv.slice(2);
const records = await openSqliteOrderRecords({
  path,
  max: 100_000,
  clock: systemClock,
  dates: datesBy(),
  takesOldKeys: true,
  onWarn: (text) => appendFileSync(log, `warned: ${text}\n`),
});
for (let n = 0; ; n += 1) {
  const order = request('1', `${name}-${n}`);
  const answer = await records.reserve(order);
  if (answer.reserved) appendFileSync(log, `${name}-${n} ${order.key}\n`);
}
