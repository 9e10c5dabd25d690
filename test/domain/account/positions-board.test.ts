import { EventEmitter } from 'node:events';
import { beforeEach, expect, test } from 'vitest';
import { JoinedReads } from '../../../src/domain/account/joined-reads.ts';
import { PositionsBoard } from '../../../src/domain/account/positions-board.ts';
import type { Viewer } from '../../../src/domain/auth/viewer.ts';
import { OpenPositions } from '../../../src/domain/feed/open-positions.ts';
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

let board: PositionsBoard;
beforeEach(() => {
  board = new PositionsBoard(ledger, 1e8);
});

test('the list of an earlier call is not served after a later list, even if the proof lapses and returns', () => {
  // `offer` returns the newest stored list, or null if a newer list was served but is no longer stored.
  const newer = list(2, 'b');
  expect(board.offer(phone, newer)).toBe(newer);
  expect(board.offer(phone, list(1, 'a'))).toBe(newer);
  expect(board.offer(tablet, list(1, 'a'))).toBe(newer);
  const newest = list(3);
  expect(board.offer(tablet, newest)).toBe(newest);
  expect(board.newest(phone)).toBe(newest);
  const lapsing = bench.viewer('lapsing', { login: '41' });
  const before = list(2, 'a');
  board.offer(lapsing, before);
  bench.prove(lapsing);
  expect(board.offer(lapsing, list(1))).toBe(before);
  const during = list(4, 'b');
  board.offer(lapsing, during);
  ledger.refused(lapsing);
  expect(board.offer(lapsing, list(3))).toBeNull();
  expect(board.newest(lapsing)).toBeNull();
});

test('a token without proof neither reads nor writes the account’s list', () => {
  board.offer(phone, list(5, 'secret'));
  const forged = bench.viewer('forged');
  expect(board.newest(forged)).toBeNull();
  const own = list(1, 'own');
  expect(board.offer(forged, own)).toBe(own);
  board.offer(forged, list(9, 'poison'));
  expect(board.newest(phone)?.positions[0]?.id).toBe('secret');
});

test('a feed’s list is stored for its account, even if the token was refused during the call', () => {
  const viewer = bench.viewer('refused');
  const proof = bench.prove(viewer);
  ledger.refused(viewer);
  const polled = list(5, 'a');
  expect(board.offer(viewer, polled, proof)).toBe(polled);
  expect(board.newest(phone)).toBe(polled);
});

test('after the eviction of a list no older list is served to any token of its account', () => {
  // The lists of twenty other accounts need more than these bytes.
  board = new PositionsBoard(ledger, 4_000);
  board.offer(phone, list(5, 'newest'));
  for (let index = 0; index < 20; index += 1) {
    const viewer = bench.viewer(`other ${index}`, { login: String(50_000 + index) });
    bench.prove(viewer);
    board.offer(viewer, list(9, 'a'));
  }
  expect(board.newest(phone)).toBeNull();
  expect(board.offer(phone, list(4, 'older'))).toBeNull();
  expect(board.offer(tablet, list(4, 'older'))).toBeNull();
  expect(board.newest(phone)).toBeNull();
  // The lists of other accounts have no effect on this account.
  const viewer = bench.viewer('stranger', { login: '60000' });
  const own = list(1, 'own');
  bench.prove(viewer);
  expect(board.offer(viewer, own)).toBe(own);
  const same = list(5, 'newest');
  expect(board.offer(phone, same)).toBe(same);
});

test('a read fails if its answer is older than an evicted list', async () => {
  // No list fits, so each is evicted at once.
  board = new PositionsBoard(ledger, 1);
  const openPositions = new OpenPositions({
    gateway: {
      async getOpenPositions() {
        board.offer(phone, list(3, 'newer'));
        return list(2, 'older');
      },
    },
    board,
    clock: bench.clock,
    feeds: bench.feeds,
    freshness: { catchUp: () => true, changedAt: () => -Infinity },
    joinedReads: new JoinedReads(bench.logicalClock, new EventEmitter()),
  });
  const read = openPositions.read(phone, { after: 0 });
  await expect(read).rejects.toMatchObject({ kind: 'unavailable' });
});

/** Whether the board's newest list contradicts a snapshot with these positions, whose call was sent at `logicalTime`. */
function contradicts(viewer: Viewer, logicalTime: number, ...ids: string[]): boolean {
  return board.contradicts(viewer, logicalTime, digestOfIds(ids.map((id) => ({ id }))));
}

test.each([
  ['the same ids in another order', ['b', 'a'], false],
  ['another id', ['a', 'c'], true],
  ['both ids joined into one', ['a,b'], true],
  ['no ids', [], true],
])(
  'an earlier snapshot that has %s %j is contradicted by the newest list: %s',
  (_, ids, isContradicted) => {
    board.offer(phone, list(5, 'x'));
    board.offer(phone, list(7, 'a', 'b'));
    // The list whose call was sent last counts, not the list that arrived last.
    board.offer(phone, list(6, 'y'));
    expect(contradicts(phone, 6, ...ids)).toBe(isContradicted);
    expect(contradicts(tablet, 6, ...ids)).toBe(isContradicted);
    // A token without proof does not see the account's list.
    expect(contradicts(bench.viewer('unproved'), 6, ...ids)).toBe(false);
    // At time 7 the snapshot is as new as the list.
    expect(contradicts(phone, 7, ...ids)).toBe(false);
  },
);

test('an earlier snapshot is compared with the ids of the newest list only', () => {
  const first = list(1, 'a');
  board.offer(phone, first);
  board.offer(phone, { ...first, logicalTime: 3 });
  expect(contradicts(phone, 2, 'a')).toBe(false);
  board.offer(phone, list(5, 'b'));
  expect(contradicts(phone, 4, 'a')).toBe(true);
  expect(contradicts(phone, 4, 'b')).toBe(false);
  board.offer(phone, list(7, 'b', 'c'));
  expect(contradicts(phone, 6, 'b', 'c')).toBe(false);
  expect(contradicts(phone, 6, 'b')).toBe(true);
  board.offer(phone, list(9, 'b'));
  expect(contradicts(phone, 8, 'b')).toBe(false);
  expect(contradicts(phone, 8, 'b', 'c')).toBe(true);
});

test('a change that a token saw in its list before its proof counts after the proof', () => {
  const viewer = bench.viewer('late', { login: '42' });
  const proved = bench.viewer('proved', { login: '42' });
  bench.prove(proved);
  board.offer(proved, list(1, 'b'));
  board.offer(viewer, list(3, 'a'));
  bench.prove(viewer);
  // For the account the list is still `b`, but this token has seen `a` in between.
  board.offer(viewer, list(5, 'b'));
  expect(contradicts(viewer, 4, 'a')).toBe(true);
});

test('an evicted list contradicts older snapshots, but no newer snapshot', () => {
  board = new PositionsBoard(ledger, 8_000);
  const viewer = (index: number) => bench.viewer(`of many ${index}`);
  const FIRST_TIME = 10;
  for (let index = 0; index <= 100_000; index += 1) {
    board.offer(viewer(index), list(FIRST_TIME + index, 'a'));
  }
  expect(contradicts(viewer(0), FIRST_TIME - 1, 'a')).toBe(true);
  expect(contradicts(viewer(0), FIRST_TIME, 'a')).toBe(false);
  // A list of this viewer is still stored, and has the same ids.
  expect(contradicts(viewer(99_999), FIRST_TIME - 1, 'a')).toBe(false);
});
