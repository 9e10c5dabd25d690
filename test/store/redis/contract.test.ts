import { describeWithRedis } from '../../support/describe-with.ts';
import { startTestRedis } from '../../support/redis.ts';
import { disposed } from '../opened-records.ts';
import { itIsAStoreOfOrderRecords } from '../store-contract.ts';
import { openOperator, openReplica } from './replica.ts';

describeWithRedis('order records in Redis', (serverPath) => {
  itIsAStoreOfOrderRecords(
    async (max, maxPerAccount = max, onNearlyFull = () => {}) => {
      const redis = await startTestRedis(serverPath);
      const { records } = await openReplica(redis.url, { max, maxPerAccount, onNearlyFull });
      return disposed(records, redis);
    },
    async () => {
      const redis = await startTestRedis(serverPath);
      const bounds = { max: 2_000, maxPerAccount: 2_000 };
      const maker = await openReplica(redis.url, bounds);
      const other = await openReplica(redis.url, bounds);
      const operator = await openOperator(redis.url);
      return {
        replicas: [maker.records, other.records],
        operator,
        async [Symbol.asyncDispose]() {
          operator.close();
          await maker.records.close();
          await other.records.close();
          await redis[Symbol.asyncDispose]();
        },
      };
    },
  );
});
