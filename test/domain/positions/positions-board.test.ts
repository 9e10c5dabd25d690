import { expect, test } from 'vitest';
import { LogicalClock } from '../../../lib/clock.ts';
import { PositionsBoard } from '../../../src/domain/positions/positions-board.ts';
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
  const board = new PositionsBoard({ logicalClock });
  const newer = list(2, 'b');
  expect(board.offer(proved, newer)).toBe(newer);
  expect(board.offer(proved, list(1, 'a'))).toBe(newer);
  expect(board.offer(otherProved, list(1, 'a'))).toBe(newer);
  const newest = list(3);
  expect(board.offer(otherProved, newest)).toBe(newest);
  expect(board.newest(proved)).toBe(newest);
});

test('a token without proof neither gets the account’s lists nor adds to them', () => {
  const board = new PositionsBoard({ logicalClock });
  board.offer(proved, list(5, 'secret'));
  const forged = { proof: null, tokenHash: bench.viewer('forged').tokenHash };
  expect(board.newest(forged)).toBeNull();
  const own = list(1, 'own');
  expect(board.offer(forged, own)).toBe(own);
  board.offer(forged, list(9, 'poison'));
  expect(board.newest(proved)?.positions[0]?.id).toBe('secret');
});

test('a token keeps its newest list when its proof lapses and returns', () => {
  const board = new PositionsBoard({ logicalClock });
  const scope = { proof: null, tokenHash: phone.tokenHash };
  const before = list(2, 'a');
  board.offer(scope, before);
  expect(board.offer(proved, list(1))).toBe(before);
  const during = list(4, 'b');
  board.offer(proved, during);
  expect(board.offer(scope, list(3))).toBe(during);
});

test('a login that spells a token hash reads nothing of that token', () => {
  const board = new PositionsBoard({ logicalClock });
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
  const board = new PositionsBoard({ logicalClock });
  const before = list(logicalClock.next());
  board.accountChanged(proof.login);
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
