import { describe, expect, test } from 'vitest';
import {
  BELIEVED_AFTER_MS,
  type KnownList,
  NO_AWAITED_ORDERS,
  ordersLeft,
  type Relation,
  relate,
} from '../../../src/domain/account/relation.ts';
import type { SessionAnswer } from '../../../src/gateway/answers.ts';
import type { Order, Position } from '../../../src/gateway/model.ts';

/** Since when the awaited ones may be in neither list. */
const SINCE_MS = 10_000;
const IN_TIME_MS = SINCE_MS + BELIEVED_AFTER_MS - 1;
const TOO_LATE_MS = SINCE_MS + BELIEVED_AFTER_MS;

/** `a:2` is a position of two units, `a:-2` one that is sold, `a` one whose size is not told. */
function membersOf(text: string) {
  const members = text
    .split(' ')
    .filter(Boolean)
    .map((member) => member.split(':'));
  const ids = members.map(([id = '']) => id);
  return { ids, sizes: members.map(([, size]) => (size ? Number(size) : null)) };
}

function list(at: number, members: string, more: Partial<KnownList> = {}): KnownList {
  const { ids, sizes } = membersOf(members);
  const positions = ids.map((id, index) => {
    const [size = null, side] = [sizes[index], (sizes[index] ?? 0) < 0 ? 'SELL' : 'BUY'];
    return { id, side, units: size && Math.abs(size) } as Position;
  });
  return { positions, logicalTime: at, sentAtMs: IN_TIME_MS, ...more };
}

/** Null: it has no such list. */
function snapshot(at: number, members: string | null, orders: string | null = ''): SessionAnswer {
  const session = {
    positions: members === null ? null : { ...membersOf(members), rows: null },
    orders: orders === null ? null : membersOf(orders).ids.map((id) => ({ id }) as Order),
  };
  return { session, logicalTime: at, sentAtMs: SINCE_MS, receivedAtMs: SINCE_MS } as SessionAnswer;
}

function relation(
  known: KnownList,
  answer: SessionAnswer,
  awaited: readonly string[] = [],
  nowMs = IN_TIME_MS,
): Relation {
  return relate(known, answer, new Map(awaited.map((id) => [id, SINCE_MS])), nowMs);
}

describe('whoever is older, a list and a snapshot', () => {
  test.each<[string, string, string | null, boolean]>([
    ['the same in another order', 'a:1 b:2', 'b:2 a:1', true],
    ['the same of another size', 'a:1 b:2', 'a:1 b:3', false],
    ['the same of the other side', 'a:1 b:2', 'a:1 b:-2', false],
    ['the same, whose sizes the list lacks', 'a b', 'a:1 b:3', true],
    ['the same, whose sizes the snapshot lacks', 'a:1 b:2', 'a b', true],
    ['one that the snapshot lacks', 'a b', 'a', false],
    ['one that is another', 'a b', 'a c', false],
    ['no list in the snapshot', 'a', null, false],
  ])('with %s', (_, listed, told, isSame) => {
    expect(relation(list(1, listed), snapshot(2, told))).toBe(isSame ? 'agree' : 'differ');
    const expected = isSame ? 'agree' : told === null ? 'differ' : 'snapshot-outdated';
    expect(relation(list(2, listed), snapshot(1, told))).toBe(expected);
  });
});

const before = list(3, 'a', { membersTime: 1 });
const since = list(3, 'a', { membersTime: 3 });
test.each<[string, KnownList, SessionAnswer, Relation]>([
  ['had its members before', before, snapshot(2, ''), 'differ'],
  ['has others since', since, snapshot(2, ''), 'snapshot-outdated'],
  ['has others since, and the snapshot too', since, snapshot(2, 'a'), 'agree'],
  ['has others since, the snapshot no list', since, snapshot(2, null), 'snapshot-outdated'],
  ['had them before, the snapshot no list', before, snapshot(2, null), 'differ'],
])('a list that is known since when it has its members: it %s', (_, known, answer, expected) => {
  expect(relation(known, answer)).toBe(expected);
});

describe('an order that is awaited', () => {
  test.each<[string, KnownList, SessionAnswer, Relation]>([
    ['is an order', list(1, 'a'), snapshot(2, 'a', 'o'), 'agree'],
    ['is nowhere, the list is older', list(1, 'a'), snapshot(2, 'a'), 'list-behind'],
    ['is nowhere, the snapshot is older', list(2, 'a'), snapshot(1, 'a'), 'snapshot-behind'],
    ['is a position of the newer snapshot', list(1, 'a'), snapshot(2, 'a o'), 'list-behind'],
    // Its members are from before the snapshot, however late it was asked for.
    ['is one of the snapshot, the list as before', before, snapshot(2, 'a o'), 'list-behind'],
    ['is nowhere, and an older snapshot', list(2, 'a'), snapshot(1, null), 'snapshot-behind'],
    ['is nowhere, and a newer snapshot', list(1, 'a'), snapshot(2, null), 'list-behind'],
    ['is not told of, without orders', list(1, 'a'), snapshot(2, 'a', null), 'agree'],
  ])('and %s', (_, known, answer, expected) => {
    expect(relation(known, answer, ['o'])).toBe(expected);
  });

  test('is believed to be gone once a later list lacks it, or once time has passed while both tell the same', () => {
    const at = (sentAtMs: number, nowMs: number, positions: string) =>
      relation(list(1, 'a', { sentAtMs }), snapshot(2, positions), ['o'], nowMs);
    expect(at(IN_TIME_MS, TOO_LATE_MS, 'b')).toBe('list-behind');
    expect(at(TOO_LATE_MS, TOO_LATE_MS, 'b')).toBe('differ');
    expect(at(0, IN_TIME_MS, 'a')).toBe('list-behind');
    expect(at(0, TOO_LATE_MS, 'a')).toBe('agree');
  });
});

test('an order counts as left since the first snapshot that lacks it, until it is back or long gone', () => {
  const KEPT_MS = 60_000;
  const [o, p] = [{ id: 'o' } as Order, { id: 'p' } as Order];
  const at = (receivedAtMs: number, orders: string | null) => ({
    ...snapshot(1, '', orders),
    receivedAtMs,
  });
  const left = (...step: Parameters<typeof ordersLeft>) => Object.fromEntries(ordersLeft(...step));
  const first = ordersLeft(new Map(), [o, p], at(1_000, 'p'), KEPT_MS);
  expect([...first]).toEqual([['o', 1_000]]);
  expect(left(first, [o, p], at(2_000, ''), KEPT_MS)).toEqual({ o: 1_000, p: 2_000 });
  // Most snapshots lack none, which costs no memory.
  expect(ordersLeft(first, [p], at(2_000, 'o p'), KEPT_MS)).toBe(NO_AWAITED_ORDERS);
  expect(ordersLeft(first, [p], at(2_000, null), KEPT_MS)).toBe(first);
  expect(left(first, [], at(1_000 + KEPT_MS - 1, ''), KEPT_MS)).toEqual({ o: 1_000 });
  expect(left(first, [], at(1_000 + KEPT_MS, ''), KEPT_MS)).toEqual({});
  // As long as it may be believed in at least.
  expect(left(first, [], at(1_000 + BELIEVED_AFTER_MS - 1, ''), 1)).toEqual({ o: 1_000 });
});
