import { describe, expect, test } from 'vitest';
import { createMemoryOrderRecords } from '../../../src/store/memory/order-records.ts';
import { RECORD_LIFE_MS } from '../../../src/store/order-records.ts';
import { accountNamed } from '../../support/accounts.ts';
import { reserved } from '../order-records-contract.ts';
import { itIsAStoreOfOrderRecords } from '../store-contract.ts';
import { rememberedMs, voidRequest } from '../void-contract.ts';

async function openRecords(max: number, maxPerAccount = max, onNearlyFull = () => {}) {
  const uptimeMs = () => performance.now();
  const records = createMemoryOrderRecords({ max, maxPerAccount, onNearlyFull, uptimeMs });
  return { ...records, [Symbol.asyncDispose]: records.close };
}

describe('order records in memory', () => {
  itIsAStoreOfOrderRecords(openRecords);

  test('remember since they began, and a day at the most', async () => {
    let uptimeMs = 1_000_000;
    const records = createMemoryOrderRecords({ max: 9, uptimeMs: () => uptimeMs });
    expect(await rememberedMs(records, 'k1')).toBe(0);
    uptimeMs += 5_000.5;
    expect(await rememberedMs(records, 'k2')).toBe(5_000);
    uptimeMs += 3 * RECORD_LIFE_MS;
    expect(await rememberedMs(records, 'k3')).toBe(RECORD_LIFE_MS);
  });

  test('an account may close another key when its oldest closed one expires, though others hide it', async () => {
    let uptimeMs = 0;
    const bounds = { max: 5_000, maxPerAccount: 1_000 };
    const records = createMemoryOrderRecords({ ...bounds, uptimeMs: () => uptimeMs });
    // A call drops a few hundred of the records that are over.
    for (let n = 0; n < 900; n += 1) await reserved(records, '1', `order ${n}`);
    for (let n = 0; n < 100; n += 1) await records.voidKey(voidRequest('1', `k${n}`));
    uptimeMs = RECORD_LIFE_MS - 1_500;
    const refused = records.voidKey(voidRequest('1', 'new'));
    await expect(refused).rejects.toMatchObject({ retryAfterSeconds: 2 });
    uptimeMs = RECORD_LIFE_MS;
    expect(await records.find(accountNamed('1'), 'k0')).toBe(null);
    expect(await records.voidKey(voidRequest('1', 'k0'))).toMatchObject({ voided: true });
  });
});
