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

test('the answer to an earlier call is not served after a later one, even if the proof lapses and returns', () => {
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

test('a list that a feed has polled is stored for its account, even if the token was refused during the call', () => {
  const viewer = bench.viewer('refused');
  const proof = bench.prove(viewer);
  ledger.refused(viewer);
  const polled = list(5, 'a');
  expect(board.offer(viewer, polled, proof)).toBe(polled);
  expect(board.newest(phone)).toBe(polled);
});

test('after an eviction no older list is served, neither to the token nor to its account', () => {
  board = new PositionsBoard(ledger, 4_000);
  board.offer(phone, list(5, 'newest'));
  for (let at = 0; at < 20; at += 1) {
    const viewer = bench.viewer(`other ${at}`, { login: String(50_000 + at) });
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

test('an answer that is older than a list that was served and evicted is not served', async () => {
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

function contradicts(viewer: Viewer, at: number, ...ids: string[]): boolean {
  return board.contradicts(viewer, at, digestOfIds(ids.map((id) => ({ id }))));
}

test.each([
  ['the same ids in another order', ['b', 'a'], false],
  ['another id', ['a', 'c'], true],
  ['both ids joined into one', ['a,b'], true],
  ['no ids', [], true],
])(
  'a snapshot from before the newest list with %s %j is contradicted: %s',
  (_, ids, isContradicted) => {
    board.offer(phone, list(5, 'x'));
    board.offer(phone, list(7, 'a', 'b'));
    // The list whose call was sent last counts, not the list that arrived last.
    board.offer(phone, list(6, 'y'));
    expect(contradicts(phone, 6, ...ids)).toBe(isContradicted);
    expect(contradicts(tablet, 6, ...ids)).toBe(isContradicted);
    // A token without proof does not see the account's list. At time 7 the snapshot is as new as the list.
    expect(contradicts(bench.viewer('unproved'), 6, ...ids)).toBe(false);
    expect(contradicts(phone, 7, ...ids)).toBe(false);
  },
);

test('when a list is served again or replaced, a snapshot is compared with the newest list’s ids', () => {
  const first = list(1, 'a');
  board.offer(phone, first);
  board.offer(phone, { ...first, logicalTime: 3 });
  expect(contradicts(phone, 2, 'a')).toBe(false);
  board.offer(phone, list(5, 'b'));
  expect(contradicts(phone, 4, 'a')).toBe(true);
  expect(contradicts(phone, 4, 'b')).toBe(false);
  for (const [at, ...ids] of [
    [7, 'b', 'c'],
    [9, 'b'],
  ] as const) {
    board.offer(phone, list(at, ...ids));
    expect(contradicts(phone, at - 1, ...ids)).toBe(false);
    expect(contradicts(phone, at - 1, 'b', 'c')).toBe(ids.length === 1);
    expect(contradicts(phone, at - 1, 'b')).toBe(ids.length === 2);
  }
});

test('a change that a token saw without proof counts after its proof', () => {
  const viewer = bench.viewer('late', { login: '42' });
  const other = bench.viewer('other', { login: '42' });
  bench.prove(other);
  board.offer(other, list(1, 'b'));
  board.offer(viewer, list(3, 'a'));
  bench.prove(viewer);
  board.offer(viewer, list(5, 'b'));
  expect(contradicts(viewer, 4, 'a')).toBe(true);
});

test('an evicted list makes older snapshots stale, but not newer ones', () => {
  board = new PositionsBoard(ledger, 8_000);
  const viewer = (at: number) => bench.viewer(`of many ${at}`);
  for (let at = 0; at <= 100_000; at += 1) board.offer(viewer(at), list(10 + at, 'a'));
  expect(contradicts(viewer(0), 9, 'a')).toBe(true);
  expect(contradicts(viewer(0), 10, 'a')).toBe(false);
  expect(contradicts(viewer(99_999), 9, 'a')).toBe(false);
});
