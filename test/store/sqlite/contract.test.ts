import { join } from 'node:path';
import { describe } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { OperatorFile } from '../../../src/store/sqlite/operator-records.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { disposed } from '../opened-records.ts';
import { itIsAStoreOfOrderRecords } from '../store-contract.ts';

const quiet = { clock: systemClock, gatewaySkewMs: () => 0, onWarn() {} };

describe('order records in a file', () => {
  itIsAStoreOfOrderRecords(
    async (max, maxPerAccount = max, onNearlyFull = () => {}) => {
      const folder = await temporaryFolder();
      const path = join(folder.path, 'orders.db');
      const bounds = { max, maxPerAccount, onNearlyFull };
      return disposed(await openSqliteOrderRecords({ ...quiet, path, ...bounds }), folder);
    },
    async () => {
      const folder = await temporaryFolder();
      const path = join(folder.path, 'orders.db');
      const max = 2_000;
      const maker = await openSqliteOrderRecords({ ...quiet, path, max });
      const other = await openSqliteOrderRecords({ ...quiet, path, max });
      const operator = new OperatorFile({ path, max, onWarn() {} });
      return {
        replicas: [maker, other],
        operator,
        async [Symbol.asyncDispose]() {
          operator.close();
          await maker.close();
          await other.close();
          await folder[Symbol.asyncDispose]();
        },
      };
    },
  );
});

describe('order records in memory', () => {
  itIsAStoreOfOrderRecords(async (max, maxPerAccount = max, onNearlyFull = () => {}) => {
    const bounds = { max, maxPerAccount, onNearlyFull };
    const records = await openSqliteOrderRecords({ ...quiet, path: ':memory:', ...bounds });
    return disposed(records, { async [Symbol.asyncDispose]() {} });
  });
});
