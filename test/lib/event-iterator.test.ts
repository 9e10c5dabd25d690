import { expect, test } from 'vitest';
import { EventIterator } from '../../src/lib/event-iterator.ts';

/** An iterator over the numbers in `ready`. It records how often it is opened and closed. */
function createNumbers(...ready: number[]) {
  const counts = { opened: 0, closed: 0 };
  const events = new EventIterator<number>({
    open: () => {
      counts.opened += 1;
    },
    take: () => ready.shift(),
    close: () => {
      counts.closed += 1;
    },
  });
  return { ready, counts, events };
}

const DONE = { done: true, value: undefined };

test('an iterator that nobody reads is neither opened nor closed', async () => {
  const { counts, events } = createNumbers(1);
  await events.return();
  expect(await events.next()).toEqual(DONE);
  expect(counts).toEqual({ opened: 0, closed: 0 });
});

test('a reader gets each event when it is there, and waits for the next', async () => {
  const { ready, counts, events } = createNumbers(1);
  expect(await events.next()).toEqual({ done: false, value: 1 });
  const waiting = events.next();
  events.wake();
  ready.push(2, 3);
  events.wake();
  events.wake();
  expect((await waiting).value).toBe(2);
  expect((await events.next()).value).toBe(3);
  expect(counts).toEqual({ opened: 1, closed: 0 });
});

test('a reader receives the error of the end once, even if it reads after the end', async () => {
  const over = new Error('over');
  const [reading, late] = [createNumbers(), createNumbers(1)];
  const waiting = reading.events.next();
  for (const { events } of [reading, late]) {
    events.end(over);
    events.end(new Error('over again'));
    expect(events.failure).toBe(over);
  }
  await expect(waiting).rejects.toBe(over);
  await expect(late.events.next()).rejects.toBe(over);
  for (const { events } of [reading, late]) expect(await events.next()).toEqual(DONE);
  expect([reading.counts.closed, late.counts]).toEqual([1, { opened: 0, closed: 0 }]);
});

test('a reader that leaves while it waits gets an end without an error', async () => {
  const { counts, events } = createNumbers();
  const waiting = events.next();
  await events.return();
  events.end(new Error('too late'));
  expect(await waiting).toEqual(DONE);
  expect(counts.closed).toBe(1);
  const { events: failed } = createNumbers();
  failed.end(new Error('unread'));
  await failed.return();
  expect(await failed.next()).toEqual(DONE);
});
