import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { AccountReads } from '../../../src/domain/account/account-reads.ts';
import { ACCOUNT } from '../../../src/lib/account.ts';
import { LogicalClock } from '../../../src/lib/clock.ts';
import { accountNamed } from '../../support/accounts.ts';
import { collectGarbage, scavenge } from '../../support/heap.ts';
import { viewerOf } from '../viewer.ts';

const demo = viewerOf('demo');
let logicalClock: LogicalClock;
let reads: AccountReads;
/** The calls under way. A test answers them. */
let calls: PromiseWithResolvers<number>[];

beforeEach(() => {
  logicalClock = new LogicalClock();
  reads = new AccountReads(logicalClock);
  calls = [];
});

/** Reads something. `after`: join only calls that began later. `request`: join only calls with the same request. */
function read(viewer = demo, demand: { after?: number; request?: string } = {}) {
  const send = () => {
    const call = Promise.withResolvers<number>();
    calls.push(call);
    return call.promise;
  };
  return reads.read(viewer, 'getCustomerId', send, demand);
}

test('equal reads of one token join a call until it has ended', async () => {
  const both = [read(), read()];
  const others = [read(viewerOf('another')), read(demo, { request: '{"page":2}' })];
  expect(calls).toHaveLength(3);
  // Each call is answered with its index.
  for (const [index, call] of calls.entries()) call.resolve(index);
  expect(await Promise.all([...both, ...others])).toEqual([0, 0, 1, 2]);
  void read();
  expect(calls).toHaveLength(4);
});

test('a read after a write of the account joins no earlier call', async () => {
  void read();
  reads.written(accountNamed('2002'));
  // A change of another account does not matter.
  void read();
  expect(calls).toHaveLength(1);
  reads.written(demo[ACCOUNT]);
  void read();
  expect(calls).toHaveLength(2);
  // After the end of the first call, reads still join the second.
  calls[0]?.resolve(1);
  await setImmediate();
  void read();
  expect(calls).toHaveLength(2);
});

test('a read joins no call from before the store may have lost the versions of accounts', async () => {
  const versions = { read: async () => ({ epoch: 'another', version: null }) };
  reads = new AccountReads(logicalClock, versions);
  void read();
  await reads.catchUp(demo[ACCOUNT]);
  void read();
  expect(calls).toHaveLength(2);
  void read();
  expect(calls).toHaveLength(2);
});

test('a failed call fails all reads that joined it', async () => {
  const both = [read(), read()];
  calls[0]?.reject(new Error('down'));
  const results = await Promise.allSettled(both);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(calls).toHaveLength(1);
});

test('an ended call keeps its answer in memory until the next collection of young objects at most', async () => {
  const answers: WeakRef<object>[] = [];
  const viewers = Array.from({ length: 16 }, (_, number) => viewerOf(`token ${number}`));
  const readAll = () =>
    Promise.all(
      viewers.map((viewer) =>
        reads.read(viewer, 'getOpenPositions', async () => {
          const answer = { positions: [] };
          answers.push(new WeakRef(answer));
          return answer;
        }),
      ),
    );
  const openReads = readAll();
  // Moves the table of open calls to the heap's old space. References from there could keep young answers alive.
  collectGarbage();
  await openReads;
  for (let round = 0; round < 40; round += 1) {
    await readAll();
    // A WeakRef keeps its target alive until this turn of the event loop ends.
    await setImmediate();
    scavenge();
  }
  await setImmediate();
  scavenge();
  const alive = answers.filter((answer) => answer.deref() !== undefined);
  // Each round has sixteen answers, and those of the last few rounds may be left.
  expect(alive.length).toBeLessThan(64);
});
