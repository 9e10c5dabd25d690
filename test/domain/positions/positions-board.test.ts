import { expect, test } from 'vitest';
import { LogicalClock } from '../../../lib/clock.ts';
import { digestOf } from '../../../src/domain/account/relation.ts';
import { OpenPositions } from '../../../src/domain/positions/open-positions.ts';
import { type BoardScope, PositionsBoard } from '../../../src/domain/positions/positions-board.ts';
import type { PositionsAnswer } from '../../../src/gateway/answers.ts';
import { createLiveBench } from './live-bench.ts';
import { answerOf, position } from './scripted-gateway.ts';

const logicalClock = new LogicalClock();
const bench = createLiveBench();
const phone = bench.viewer('phone');
const tablet = bench.viewer('tablet');
const proof = bench.prove(phone);
const proved = { proof, tokenHash: phone.tokenHash };
const otherProved = { proof: bench.prove(tablet), tokenHash: tablet.tokenHash };

function list(logicalTime: number, ...ids: string[]): PositionsAnswer {
  return answerOf(
    ids.map((id) => position(id)),
    { logicalTime, atMs: logicalTime },
  );
}

test('an answer that was sent earlier and received later is not served', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 1e8 });
  const newer = list(2, 'b');
  expect(board.offer(proved, newer)).toBe(newer);
  expect(board.offer(proved, list(1, 'a'))).toBe(newer);
  expect(board.offer(otherProved, list(1, 'a'))).toBe(newer);
  const newest = list(3);
  expect(board.offer(otherProved, newest)).toBe(newest);
  expect(board.newest(proved)).toBe(newest);
});

test('a token without proof neither gets the account’s lists nor adds to them', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 1e8 });
  board.offer(proved, list(5, 'secret'));
  const forged = { proof: null, tokenHash: bench.viewer('forged').tokenHash };
  expect(board.newest(forged)).toBeNull();
  const own = list(1, 'own');
  expect(board.offer(forged, own)).toBe(own);
  board.offer(forged, list(9, 'poison'));
  expect(board.newest(proved)?.positions[0]?.id).toBe('secret');
});

test('a token keeps its newest list when its proof lapses and returns', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 1e8 });
  const scope = { proof: null, tokenHash: phone.tokenHash };
  const before = list(2, 'a');
  board.offer(scope, before);
  expect(board.offer(proved, list(1))).toBe(before);
  const during = list(4, 'b');
  board.offer(proved, during);
  expect(board.offer(scope, list(3))).toBe(during);
});

test('a login that spells a token hash reads nothing of that token', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 1e8 });
  const viewer = bench.viewer('other', { login: '42' });
  board.offer({ proof: null, tokenHash: '42' }, list(1, 'a'));
  expect(board.newest({ proof: bench.prove(viewer), tokenHash: viewer.tokenHash })).toBeNull();
});

test('a watcher gets every list served to its account, and has the newest after eviction', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 800 });
  const received: number[] = [];
  const live = list(7, 'live');
  const unwatch = board.watch(proof, {
    newest: () => live,
    onList: ({ logicalTime }) => received.push(logicalTime),
  });
  expect(board.offer(proved, list(3))).toBe(live);
  board.offer(otherProved, list(8));
  expect(received).toEqual([7, 8]);
  unwatch();
  board.offer(proved, list(9));
  expect(received).toEqual([7, 8]);
});

test('no number of changed accounts makes a list from before an order current again', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 1e8 });
  const before = list(logicalClock.next());
  board.accountChanged(proof.account);
  const between = list(logicalClock.next());
  for (let at = 0; at < 100_000; at += 1) board.accountChanged(`other ${at}`);
  expect(board.isCurrent(proof, before)).toBe(false);
  expect(board.isCurrent(proof, between)).toBe(true);
  board.anyAccountChanged();
  expect(board.isCurrent(proof, between)).toBe(false);
  expect(board.isCurrent(proof, list(logicalClock.next()))).toBe(true);
});

test('a list that is evicted brings no older one back, for its token nor for its account', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 4_000 });
  board.offer(proved, list(5, 'newest'));
  const others = (from: number) => {
    for (let at = from; at < from + 20; at += 1) {
      const viewer = bench.viewer(`other ${at}`, { login: String(50_000 + at) });
      board.offer({ proof: bench.prove(viewer), tokenHash: viewer.tokenHash }, list(9, 'a'));
    }
  };
  others(0);
  expect(board.newest(proved)).toBeNull();
  expect(board.offer(proved, list(4, 'older'))).toBeNull();
  expect(board.offer(otherProved, list(4, 'older'))).toBeNull();
  expect(board.offer({ proof: null, tokenHash: phone.tokenHash }, list(4, 'older'))).toBeNull();
  expect(board.newest(proved)).toBeNull();
  // What another account saw says nothing of this one.
  const viewer = bench.viewer('stranger', { login: '60000' });
  const own = list(1, 'own');
  expect(board.offer({ proof: bench.prove(viewer), tokenHash: viewer.tokenHash }, own)).toBe(own);
  const same = list(5, 'newest');
  expect(board.offer(proved, same)).toBe(same);
});

test('a list is asked for three times at most while newer ones come and are forgotten', async () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 1 });
  let asked = 0;
  const openPositions = new OpenPositions({
    gateway: {
      async getOpenPositions() {
        asked += 1;
        const answer = list(logicalClock.next(), 'older');
        board.offer(otherProved, list(logicalClock.next(), 'newer'));
        return answer;
      },
    },
    ...{ board, clock: bench.clock, live: () => null },
    ledger: { account: () => proof },
    freshness: { catchUp: () => true },
  });
  const read = openPositions.read(phone, { live: true });
  await expect(read).rejects.toMatchObject({ kind: 'unavailable' });
  expect(asked).toBe(3);
});

const contradicts = (board: PositionsBoard, scope: BoardScope, at: number, ...ids: string[]) =>
  board.contradicts(scope, at, digestOf(ids));

test.each([
  ['the same positions', ['a', 'b'], false],
  ['the same in another order', ['b', 'a'], false],
  ['one more', ['a', 'b', 'c'], true],
  ['one less', ['a'], true],
  ['another one', ['a', 'c'], true],
  ['others alone', ['c', 'd'], true],
  ['both as one', ['a,b'], true],
  ['none', [], true],
])('a snapshot from before the newest list, with %s', (_, ids, isContradicted) => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 1e8 });
  board.offer(proved, list(5, 'x'));
  board.offer(proved, list(7, 'a', 'b'));
  // The list sent last counts, not the one received last.
  board.offer(proved, list(6, 'y'));
  expect(contradicts(board, proved, 6, ...ids)).toBe(isContradicted);
  expect(contradicts(board, otherProved, 6, ...ids)).toBe(isContradicted);
  // Without proof the account’s lists count for nobody, and from then on the snapshot is the newer one.
  expect(contradicts(board, { ...otherProved, proof: null }, 6, ...ids)).toBe(false);
  expect(contradicts(board, { ...proved, proof: null }, 6, ...ids)).toBe(isContradicted);
  expect(contradicts(board, proved, 7, ...ids)).toBe(false);
});

test('a list that is served again has the members that it has, whatever came for its token between', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 1e8 });
  const first = list(1, 'a');
  board.offer(proved, first);
  board.offer(proved, { ...first, logicalTime: 3 });
  expect(contradicts(board, proved, 2, 'a')).toBe(false);
  board.offer(proved, list(5, 'b'));
  expect(contradicts(board, proved, 4, 'a')).toBe(true);
  expect(contradicts(board, proved, 4, 'b')).toBe(false);
});

test('a list that is forgotten makes all older snapshots doubtful, and no newer one', () => {
  const board = new PositionsBoard({ logicalClock, maxBytes: 8_000 });
  const scope = (at: number) => ({ proof: null, tokenHash: `token ${at}` });
  for (let at = 0; at <= 100_000; at += 1) board.offer(scope(at), list(10 + at, 'a'));
  expect(contradicts(board, scope(0), 9, 'a')).toBe(true);
  expect(contradicts(board, scope(0), 10, 'a')).toBe(false);
  expect(contradicts(board, scope(99_999), 9, 'a')).toBe(false);
});
