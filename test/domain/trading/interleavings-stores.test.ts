import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import type { OrderRecords } from '../../../src/store/order-records.ts';
import { openRedisOrderRecords } from '../../../src/store/redis/order-records.ts';
import { openSqliteOrderRecords } from '../../../src/store/sqlite/order-records.ts';
import { createFolder } from '../../store/sqlite/order-files.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { startTestRedis } from '../../support/redis.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { explore } from './interleaving/explore.ts';
import { beginRun } from './interleaving/run.ts';
import { SCENARIOS, type Scenario } from './interleaving/scenario.ts';

// Beyond it the first of what can happen does: each run takes as long as its commits.
const DEPTH = inFull(5, 3);
const BOUNDS = { max: 100_000, maxPerAccount: 100_000, clock: systemClock, onWarn() {} };

// The clocks of these stores pass by themselves, so nothing can wait here until its time is over.
const TIMELY = Object.entries(SCENARIOS).filter(([, { hangs }]) => !hangs);

let runs = 0;

/** All runs share the replicas' connections, and each has a key of its own. */
async function exploreOn(scenario: Scenario, records: readonly OrderRecords[]): Promise<void> {
  const before = runs;
  await explore(
    () => {
      runs += 1;
      const clock = createScriptedClock(Date.now());
      return beginRun(scenario, { clock, records, readers: records, key: `k${runs}` });
    },
    { depth: DEPTH },
  );
  expect(runs - before).toBeGreaterThan(10);
}

describe('two processes with one file agree', () => {
  test.each(TIMELY)(
    '%s',
    async (_, scenario) => {
      using folder = createFolder();
      const open = () => openSqliteOrderRecords({ ...BOUNDS, path: folder.path });
      const [one, other] = [await open(), await open()];
      await exploreOn(scenario, [one, other]);
      await Promise.all([one.close(), other.close()]);
    },
    120_000,
  );
});

describeWithRedis('two replicas with one Redis agree', (serverPath) => {
  test.each(TIMELY)(
    '%s',
    async (_, scenario) => {
      await using redis = await startTestRedis(serverPath);
      const open = async () => {
        const records = await openRedisOrderRecords({
          ...{ ...BOUNDS, url: redis.url, uptimeMs: () => performance.now() },
          timing: { beatMs: 200, graceMs: 100, leaseMs: 5_000, patienceMs: 5_000 },
        });
        await eventually(() => records.degradedReason() === null);
        return records;
      };
      const [one, other] = [await open(), await open()];
      await exploreOn(scenario, [one, other]);
      await Promise.all([one.close(), other.close()]);
    },
    120_000,
  );
});
