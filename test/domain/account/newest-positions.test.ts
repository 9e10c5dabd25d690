import { beforeEach, expect, test } from 'vitest';
import { NewestPositions } from '../../../src/domain/account/newest-positions.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import type { PositionsAnswer } from '../../../src/gateway/operations/get-open-positions.ts';
import { digestOfIds } from '../../../src/gateway/operations/holdings.ts';
import { createLiveBench } from '../feed/live-bench.ts';
import { answerOf, position } from '../feed/scripted-gateway.ts';

const bench = createLiveBench();
const phone = bench.viewer('phone');
const tablet = bench.viewer('tablet');
const { ledger } = bench;
bench.prove(phone);
bench.prove(tablet);

/** The list of positions in the answer to a call that was sent at `logicalTime`. */
function list(logicalTime: number, ...ids: string[]): PositionsAnswer {
  return answerOf(
    ids.map((id) => position(id)),
    { logicalTime, atMs: logicalTime },
  );
}

let newestPositions: NewestPositions;
beforeEach(() => {
  newestPositions = new NewestPositions(ledger, 1e8);
});

test('the list of an earlier call is not served after a later list, even if the proof lapses and returns', () => {
  // `offer` returns the newest stored list, or null if a newer list was served but is no longer stored.
  const newer = list(2, 'b');
  expect(newestPositions.offer(phone, newer)).toBe(newer);
  expect(newestPositions.offer(phone, list(1, 'a'))).toBe(newer);
  expect(newestPositions.offer(tablet, list(1, 'a'))).toBe(newer);
  const newest = list(3);
  expect(newestPositions.offer(tablet, newest)).toBe(newest);
  expect(newestPositions.newest(phone)).toBe(newest);
  const lapsing = bench.viewer('lapsing', { login: '41' });
  const before = list(2, 'a');
  newestPositions.offer(lapsing, before);
  bench.prove(lapsing);
  expect(newestPositions.offer(lapsing, list(1))).toBe(before);
  const during = list(4, 'b');
  newestPositions.offer(lapsing, during);
  ledger.refused(lapsing);
  expect(newestPositions.offer(lapsing, list(3))).toBeNull();
  expect(newestPositions.newest(lapsing)).toBeNull();
});

test('a token without proof neither reads nor writes the account’s list', () => {
  newestPositions.offer(phone, list(5, 'secret'));
  const forged = bench.viewer('forged');
  expect(newestPositions.newest(forged)).toBeNull();
  const own = list(1, 'own');
  expect(newestPositions.offer(forged, own)).toBe(own);
  newestPositions.offer(forged, list(9, 'poison'));
  expect(newestPositions.newest(phone)?.rows[0]?.id).toBe('secret');
});

test('a feed’s list is stored for its account, even if the token was refused during the call', () => {
  const viewer = bench.viewer('refused');
  const proof = bench.prove(viewer);
  ledger.refused(viewer);
  const polled = list(5, 'a');
  expect(newestPositions.offer(viewer, polled, proof)).toBe(polled);
  expect(newestPositions.newest(phone)).toBe(polled);
});

test('after the eviction of a list no older list is served to any token of its account', () => {
  // The lists of twenty other accounts need more than these bytes.
  newestPositions = new NewestPositions(ledger, 4_000);
  newestPositions.offer(phone, list(5, 'newest'));
  for (let index = 0; index < 20; index += 1) {
    const viewer = bench.viewer(`other ${index}`, { login: String(50_000 + index) });
    bench.prove(viewer);
    newestPositions.offer(viewer, list(9, 'a'));
  }
  expect(newestPositions.newest(phone)).toBeNull();
  expect(newestPositions.offer(phone, list(4, 'older'))).toBeNull();
  expect(newestPositions.offer(tablet, list(4, 'older'))).toBeNull();
  expect(newestPositions.newest(phone)).toBeNull();
  // The lists of other accounts have no effect on this account.
  const viewer = bench.viewer('stranger', { login: '60000' });
  const own = list(1, 'own');
  bench.prove(viewer);
  expect(newestPositions.offer(viewer, own)).toBe(own);
  const same = list(5, 'newest');
  expect(newestPositions.offer(phone, same)).toBe(same);
});

test('a read fails if its answer is older than an evicted list', async () => {
  // No list fits, so each is evicted at once.
  const { gateway, feeds, newestPositions, viewer } = createLiveBench({ newestBytes: 1 });
  const reader = viewer('reader');
  gateway.getOpenPositions = async () => {
    newestPositions.offer(reader, list(3, 'newer'));
    return list(2, 'older');
  };
  const read = feeds.read(reader, { after: 0 });
  await expect(read).rejects.toMatchObject({ kind: 'unavailable' });
});

/** Whether the newest list contradicts a snapshot with these positions, whose call was sent at `logicalTime`. */
function contradicts(viewer: Viewer, logicalTime: number, ...ids: string[]): boolean {
  return newestPositions.contradicts(viewer, logicalTime, digestOfIds(ids.map((id) => ({ id }))));
}

test.each([
  ['the same ids in another order', ['b', 'a'], false],
  ['another id', ['a', 'c'], true],
  ['both ids joined into one', ['a,b'], true],
  ['no ids', [], true],
])(
  'an earlier snapshot that has %s %j is contradicted by the newest list: %s',
  (_, ids, isContradicted) => {
    newestPositions.offer(phone, list(5, 'x'));
    newestPositions.offer(phone, list(7, 'a', 'b'));
    // The list whose call was sent last counts, not the list that arrived last.
    newestPositions.offer(phone, list(6, 'y'));
    expect(contradicts(phone, 6, ...ids)).toBe(isContradicted);
    expect(contradicts(tablet, 6, ...ids)).toBe(isContradicted);
    // A token without proof does not see the account's list.
    expect(contradicts(bench.viewer('unproved'), 6, ...ids)).toBe(false);
    // At time 7 the snapshot is as new as the list.
    expect(contradicts(phone, 7, ...ids)).toBe(false);
  },
);

test('a change that a token saw in its list before its proof counts after the proof', () => {
  const viewer = bench.viewer('late', { login: '42' });
  const proved = bench.viewer('proved', { login: '42' });
  bench.prove(proved);
  newestPositions.offer(proved, list(1, 'b'));
  newestPositions.offer(viewer, list(3, 'a'));
  bench.prove(viewer);
  // For the account the list is still `b`, but this token has seen `a` in between.
  newestPositions.offer(viewer, list(5, 'b'));
  expect(contradicts(viewer, 4, 'a')).toBe(true);
});

test('an evicted list contradicts older snapshots, but no newer snapshot', () => {
  newestPositions = new NewestPositions(ledger, 8_000);
  const viewer = (index: number) => bench.viewer(`of many ${index}`);
  const FIRST_TIME = 10;
  for (let index = 0; index <= 100_000; index += 1) {
    newestPositions.offer(viewer(index), list(FIRST_TIME + index, 'a'));
  }
  expect(contradicts(viewer(0), FIRST_TIME - 1, 'a')).toBe(true);
  expect(contradicts(viewer(0), FIRST_TIME, 'a')).toBe(false);
  // A list of this viewer is still stored, and has the same ids.
  expect(contradicts(viewer(99_999), FIRST_TIME - 1, 'a')).toBe(false);
});
