import { expect, test } from 'vitest';
import { EventPace } from '../../../src/plugins/live/event-pace.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

const FIELDS = 6_000;
const SECOND = 1_000;

function setUp() {
  const clock = createScriptedClock();
  const pace = new EventPace({ fieldsPerMinute: FIELDS, clock });
  const admitted: [string, number][] = [];
  return {
    clock,
    pace,
    admitted,
    /** Requests an event of an account, and notes when it may go. */
    ask(key: string, name: string, fields: number) {
      const wait = pace.admit(key, fields);
      if (wait === null) admitted.push([name, 0]);
      else void wait.then((waitedMs) => admitted.push([name, waitedMs]));
    },
  };
}

test('events go immediately while their account has fields left', () => {
  const { pace } = setUp();
  for (let at = 0; at < 6; at += 1) expect(pace.admit('a', 1_000)).toBeNull();
  expect(pace.admit('a', 1_000)).not.toBeNull();
  expect(pace.admit('b', 1_000)).toBeNull();
});

test('beyond it they wait in line, until the fields are earned', async () => {
  const { clock, admitted, ask } = setUp();
  ask('a', 'first', FIELDS + 1_000);
  ask('a', 'second', 100);
  ask('a', 'third', 100);
  expect(admitted).toEqual([['first', 0]]);
  // A hundred fields a second: the first has taken ten seconds of them in advance.
  await clock.advance(9 * SECOND);
  expect(admitted).toHaveLength(1);
  await clock.advance(2 * SECOND);
  expect(admitted.map(([name]) => name)).toEqual(['first', 'second']);
  await clock.advance(2 * SECOND);
  expect(admitted.map(([name]) => name)).toEqual(['first', 'second', 'third']);
  const [, [, secondMs], [, thirdMs]] = admitted as [unknown, [string, number], [string, number]];
  expect(secondMs).toBeGreaterThan(9 * SECOND);
  expect(thirdMs).toBeGreaterThan(secondMs);
});

test('the actual cost of an event replaces its reservation', () => {
  const { pace } = setUp();
  expect(pace.admit('a', FIELDS)).toBeNull();
  expect(pace.admit('a', 1)).not.toBeNull();
  const cheap = setUp().pace;
  cheap.admit('a', FIELDS);
  cheap.settle('a', FIELDS, 10);
  expect(cheap.admit('a', 1)).toBeNull();
  const dear = setUp().pace;
  dear.admit('a', 1);
  dear.settle('a', 1, FIELDS);
  expect(dear.admit('a', 1)).not.toBeNull();
});

test('the line is first in, first out', async () => {
  const { clock, admitted, ask } = setUp();
  ask('a', 'first', FIELDS);
  ask('a', 'waiting', 1_000);
  await clock.advance(SECOND / 2);
  ask('a', 'late', 1);
  await clock.advance(60 * SECOND);
  expect(admitted.map(([name]) => name)).toEqual(['first', 'waiting', 'late']);
});

test('an account earns no more than a minute’s fields', async () => {
  const { clock, pace } = setUp();
  pace.admit('a', 1);
  await clock.advance(3_600 * SECOND);
  expect(pace.admit('a', FIELDS)).toBeNull();
  expect(pace.admit('a', 1)).not.toBeNull();
});

test('one that waits alone is admitted as well', async () => {
  const { clock, admitted, ask } = setUp();
  ask('a', 'first', FIELDS);
  ask('a', 'alone', 1);
  await clock.advance(2 * SECOND);
  expect(admitted.map(([name]) => name)).toEqual(['first', 'alone']);
});

test('an event whose subscription ends waits no longer, and those behind it wait as if it had never come', async () => {
  const { clock, pace, admitted, ask } = setUp();
  ask('a', 'first', FIELDS + 1_000);
  const ending = new AbortController();
  const left = pace.admit('a', FIELDS, ending.signal);
  ask('a', 'second', 100);
  ending.abort();
  expect(await left).toBe(0);
  await clock.advance(11 * SECOND);
  expect(admitted.map(([name]) => name)).toEqual(['first', 'second']);
});

test('subscriptions that come and leave while an account waits set no timers of their own', async () => {
  const { clock, pace } = setUp();
  pace.admit('a', 2 * FIELDS);
  for (let at = 0; at < 100; at += 1) {
    const ending = new AbortController();
    void pace.admit('a', 1, ending.signal);
    ending.abort();
  }
  expect(clock.pending).toBe(1);
});
