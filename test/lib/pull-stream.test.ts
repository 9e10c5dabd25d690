import { expect, test, vi } from 'vitest';
import { PullStream, pullStreamOf } from '../../src/lib/pull-stream.ts';
import { eventually } from '../support/eventually.ts';

/** A stream of the numbers in `ready`. It records what its listener receives, and how often it is opened and closed. */
function createNumbers(...ready: number[]) {
  const taken: (number | undefined)[] = [];
  const ends: (Error | null)[] = [];
  const counts = { opened: 0, closed: 0 };
  const stream = new PullStream<number>({
    open: () => {
      counts.opened += 1;
    },
    take: () => ready.shift(),
    close: () => {
      counts.closed += 1;
    },
  });
  const listen = () =>
    stream.listen({ woken: () => taken.push(stream.take()), ended: (error) => ends.push(error) });
  return { ready, taken, ends, counts, stream, listen };
}

test('a stream without a reader is neither opened nor closed', () => {
  const { ends, counts, stream, listen } = createNumbers(1);
  stream.leave();
  expect(counts).toEqual({ opened: 0, closed: 0 });
  listen();
  expect([ends, stream.take()]).toEqual([[null], undefined]);
});

test('a reader receives the error of the end once, even if it listens after the end', () => {
  const over = new Error('over');
  const reading = createNumbers();
  reading.listen();
  reading.stream.end(over);
  reading.stream.end(new Error('over again'));
  expect([reading.ends, reading.counts.closed]).toEqual([[over], 1]);
  const late = createNumbers(1);
  late.stream.end(over);
  late.listen();
  expect([late.ends, late.taken, late.counts.opened]).toEqual([[over], [], 0]);
  // A reader that has left receives an end without an error.
  late.stream.leave();
  late.listen();
  expect(late.ends).toEqual([over, null]);
});

test('a listener is woken immediately for each event, and once for the end', () => {
  const { ready, taken, ends, counts, stream, listen } = createNumbers(1);
  listen();
  ready.push(2);
  stream.wake();
  stream.wake();
  expect(taken).toEqual([1, 2, undefined]);
  expect(counts).toEqual({ opened: 1, closed: 0 });
  const over = new Error('over');
  stream.end(over);
  stream.end();
  ready.push(3);
  stream.wake();
  expect(stream.take()).toBeUndefined();
  expect([taken.length, ends, counts.closed]).toEqual([3, [over], 1]);
});

test('an iterable is read one value ahead of its listener, and is closed when the listener leaves', async () => {
  const steps: string[] = [];
  async function* numbers() {
    try {
      for (let index = 1; index < 10; index += 1) {
        steps.push(`made ${index}`);
        yield index;
      }
    } finally {
      steps.push('closed');
    }
  }
  const unread = pullStreamOf(numbers());
  unread.leave();
  expect(steps).toEqual([]);
  const stream = pullStreamOf(numbers());
  const ends: (Error | null)[] = [];
  stream.listen({ woken: () => {}, ended: (error) => ends.push(error) });
  expect(stream.take()).toBeUndefined();
  await eventually(() => expect(steps).toEqual(['made 1']));
  await eventually(() => expect(stream.take()).toBe(1));
  await eventually(() => expect(steps).toEqual(['made 1', 'made 2']));
  stream.leave();
  await eventually(() => expect(steps).toEqual(['made 1', 'made 2', 'closed']));
  expect([ends, stream.take()]).toEqual([[null], undefined]);
});

test('null and undefined values of an iterable are events too', async () => {
  const taken: unknown[] = [];
  const ended = vi.fn();
  async function* nothing() {
    yield undefined;
    yield null;
  }
  const stream = pullStreamOf<unknown>(nothing());
  const woken = () => {
    const value = stream.take();
    if (value !== undefined) taken.push(value);
  };
  stream.listen({ woken, ended });
  await eventually(() => expect(ended).toHaveBeenCalledWith(null));
  expect(taken).toEqual([null, null]);
});

test.each<[string, () => AsyncIterable<number>]>([
  [
    'throws',
    async function* () {
      yield 1;
      throw 'broken';
    },
  ],
  ['cannot be iterated', () => ({ [Symbol.asyncIterator]: () => raise('broken') })],
  ['fails at once', () => ({ [Symbol.asyncIterator]: () => ({ next: () => raise('broken') }) })],
])('an iterable that %s ends its stream with the error', async (_what, values) => {
  const stream = pullStreamOf(values());
  const ends: (Error | null)[] = [];
  stream.listen({ woken: () => stream.take(), ended: (error) => ends.push(error) });
  await eventually(() => expect(ends).toMatchObject([{ message: 'broken' }]));
});

function raise(message: string): never {
  throw new Error(message);
}
