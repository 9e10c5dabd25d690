import { appendFileSync, readFileSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OrderGateway } from '../../../src/domain/trading/order-gateway.ts';
import { Orders } from '../../../src/domain/trading/orders.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { decodeFrames } from '../../../src/store/journal-frame.ts';
import { openJournalOrderRecords } from '../../../src/store/journal-order-records.ts';
import { acceptedAs, createTestLog, proofOf, ticketOf, viewerOf } from './order-stage.ts';

/** A file of which nothing is on the disk before it was synced, as after a power cut. */
async function createLazyFile(path: string) {
  await (await open(path, 'w')).close();
  let unsynced: Buffer[] = [];
  let target = path;
  return {
    appendFile: async (bytes: Buffer) => void unsynced.push(bytes),
    async datasync() {
      appendFileSync(target, Buffer.concat(unsynced));
      unsynced = [];
      // What comes after the first sync comes after the rename.
      target = path.replace(/\.new$/, '');
    },
    close: async () => {},
  };
}

test('at the moment an order is sent, the disk knows of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-sent-'));
  const path = join(folder, 'orders.journal');
  const records = await openJournalOrderRecords({
    path,
    max: 10_000,
    uptimeMs: () => performance.now(),
    nowMs: Date.now,
    onWarn() {},
    create: createLazyFile as never,
    slackBytes: 10_000,
  });
  const missing: string[] = [];
  let sent = 0;
  const gateway: OrderGateway = {
    async openPosition(_viewer, { symbol }) {
      sent += 1;
      const onDisk = [...decodeFrames(readFileSync(path), path)].some(
        (event) => 'put' in event && event.put.reservation.key === symbol,
      );
      if (!onDisk) missing.push(symbol);
      return acceptedAs(symbol);
    },
    placeLimitOrder: () => Promise.reject(new Error('not used here')),
  };
  const log = createTestLog();
  const orders = new Orders({
    gateway,
    records,
    clock: systemClock,
    orderTimeoutMs: 1_000,
    onAccepted() {},
    log,
  });
  const viewer = viewerOf('token-1');
  const proof = proofOf(viewer);
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(
      Array.from({ length: 15 }, (_, n) =>
        orders.place(viewer, proof, ticketOf(`${round}-${n}`, `${round}-${n}`)),
      ),
    );
  }
  expect(sent).toBe(300);
  expect(missing).toEqual([]);
  expect(log.lines).toEqual([]);
  await records.close();

  const next = await openJournalOrderRecords({
    path,
    max: 10_000,
    uptimeMs: () => performance.now(),
    nowMs: Date.now,
    onWarn() {},
  });
  expect(next.held()).toBe(300);
  expect(await next.find('1001', '19-14')).toMatchObject({ outcome: { orderId: '19-14' } });
  await next.close();
  await rm(folder, { recursive: true });
});
