import { describe, expect, test } from 'vitest';
import { createEventPace } from '../../../engine/execution/event-pace.ts';
import { accountClient, type Client, singleClient } from '../../../lib/limits/client.ts';
import { accountNamed } from '../../support/accounts.ts';
import { createTestLimiter, limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const A = singleClient('account', 'a');
const B = singleClient('account', 'b');
const FIELDS = 6_000;
const SECOND = 1_000;

function setUp() {
  const clock = createScriptedClock();
  const pace = createEventPace(createTestLimiter(limited('events', FIELDS), clock), clock);
  const admitted: [string, number][] = [];
  return {
    clock,
    pace,
    admitted,
    /** Requests an event of an account, and notes when it may go. */
    ask(client: Client, name: string, fields: number) {
      const wait = pace.admit(client, fields);
      if (wait === null) admitted.push([name, 0]);
      else void wait.then((waitedMs) => admitted.push([name, waitedMs]));
    },
  };
}

test('events go immediately while their account has fields left; beyond it they wait in line, until the fields are earned', async () => {
  const { clock, pace, admitted, ask } = setUp();
  for (let at = 0; at < 6; at += 1) expect(pace.admit(A, 1_000)).toBeNull();
  ask(A, 'first', 1_000);
  ask(A, 'second', 100);
  ask(A, 'third', 100);
  expect(admitted).toEqual([['first', 0]]);
  expect(pace.admit(B, 1_000)).toBeNull();
  // A hundred fields a second: the first has taken ten seconds of them in advance.
  await clock.advance(9 * SECOND);
  expect(admitted).toHaveLength(1);
  await clock.advance(1.5 * SECOND);
  expect(admitted.map(([name]) => name)).toEqual(['first', 'second']);
  await clock.advance(2 * SECOND);
  const [, [, secondMs = 0] = [], [name, thirdMs] = []] = admitted;
  expect(secondMs).toBeGreaterThan(9 * SECOND);
  expect([name, Number(thirdMs) > secondMs]).toEqual(['third', true]);
});

test('the actual cost of an event replaces its reservation', () => {
  const cheap = setUp().pace;
  void cheap.admit(A, FIELDS);
  cheap.settle(A, FIELDS, 10);
  expect(cheap.admit(A, 1)).toBeNull();
  const dear = setUp().pace;
  void dear.admit(A, 1);
  dear.settle(A, 1, FIELDS + 1);
  expect(dear.admit(A, 1)).not.toBeNull();
});

test('an event whose subscription ends waits no longer, those after it wait as if it had never come, and nothing stays', async () => {
  const { clock, pace, admitted, ask } = setUp();
  ask(A, 'first', FIELDS + 1_000);
  for (let at = 0; at < 100; at += 1) {
    const ending = new AbortController();
    const left = pace.admit(A, FIELDS, { ending: ending.signal });
    ending.abort();
    expect(await left).toBe(0);
    expect(await pace.admit(A, FIELDS, { ending: AbortSignal.abort() })).toBe(0);
  }
  expect(clock.pending).toBe(0);
  ask(A, 'second', 100);
  await clock.advance(11 * SECOND);
  expect(admitted.map(([name]) => name)).toEqual(['first', 'second']);
});

describe('the tokens of an account', () => {
  const [one, other] = [
    accountClient(accountNamed('1'), 'x'),
    accountClient(accountNamed('1'), 'y'),
  ];

  test('have all of its events beside what is kept for the others, from whom those that wait take nothing', async () => {
    const { clock, admitted, ask } = setUp();
    const namesOf = (from: number) => new Set(admitted.slice(from).map(([name]) => name));
    for (let at = 0; at < 20; at += 1) ask(one, 'one', FIELDS / 10);
    // The last of them begins with nothing left.
    expect(admitted).toHaveLength(11);
    for (let at = 0; at < 5; at += 1) ask(other, 'other', FIELDS / 10);
    expect([admitted.length, namesOf(11)]).toEqual([16, new Set(['other'])]);
    await clock.advance(300 * SECOND);
    expect([admitted.length, namesOf(16)]).toEqual([25, new Set(['one'])]);
  });

  test('get back what an event had reserved and did not have, and nothing for one that ends before', async () => {
    const { pace } = setUp();
    for (const each of [other, one]) expect(pace.admit(each, FIELDS + 100)).toBeNull();
    const ending = new AbortController();
    const left = pace.admit(one, FIELDS, { ending: ending.signal });
    ending.abort();
    expect(await left).toBe(0);
    for (const each of [other, one]) pace.settle(each, FIELDS + 100, 0);
    expect(pace.admit(one, 1)).toBeNull();
  });
});
