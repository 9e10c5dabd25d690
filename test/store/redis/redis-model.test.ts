import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { inFull } from '../../support/in-full.ts';
import { startTestRedis } from '../../support/redis.ts';
import { runRedisOrders } from './redis-model.ts';

const RUNS = inFull(3_000, 20);
const SEED = 20_261_130;
const MAX_RUNS = 300;

describeWithRedis('after random faults of Redis', (serverPath) => {
  test('no order is sent twice, and no client reads that a sent order was not sent', async () => {
    await using redis = await startTestRedis(serverPath);
    expect(await runRedisOrders(redis.url, RUNS, SEED)).toBeGreaterThan(5 * RUNS);
  }, 3_600_000);

  test.each([
    ['adds three seconds to no time', ' + 3000', ' + 0'],
    [
      'adds three seconds to no removal',
      'given.madeMs > removedAt + 3000',
      'given.madeMs > removedAt',
    ],
    ['takes a promotion and a restart for no loss', 'mark.run ~= run', 'false'],
    [
      'takes another history than the known one for no loss',
      'not hasLoss(given.knownLoss)',
      'false',
    ],
    ['decides the end of a loss before it is confirmed', 'given.confirmedLoss == loss', 'true'],
    [
      'keeps the end of a loss that another process decided',
      'mark.since and given.mostJudgedMs',
      'false and 0',
    ],
  ])(
    'the model fails with a rule that %s',
    async (_, clause, without) => {
      await using redis = await startTestRedis(serverPath);
      const change = (text: string) => text.replaceAll(clause, without);
      const run = runRedisOrders(redis.url, MAX_RUNS, SEED, change);
      await expect(run).rejects.toThrow(/ sent/);
    },
    600_000,
  );
});
