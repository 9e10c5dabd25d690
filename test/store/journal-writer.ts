import { writeSync } from 'node:fs';
import { openJournalOrderRecords } from '../../src/store/journal-order-records.ts';

/**
 * A process to be killed: reserves and settles as fast as it can, several at once, and prints each
 * key once its promise is given. Started as `node journal-writer.ts <journal> <round>`.
 */
const [, , path = '', round = ''] = process.argv;
const records = await openJournalOrderRecords({
  path,
  max: 1_000_000,
  uptimeMs: () => performance.now(),
  nowMs: Date.now,
  onWarn() {},
  slackBytes: 50_000,
});

async function write(lane: number): Promise<never> {
  for (let n = 0; ; n += 1) {
    const key = `${round}-${lane}-${n}`;
    const answer = await records.reserve({
      login: '1',
      key,
      canonical: 'c',
      reservedAtMs: Date.now(),
      pendingMs: 60_000,
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
