import { expect, test } from 'vitest';
import { PullStream } from '../../src/lib/pull-stream.ts';

function listenTo(ready: number[] = []) {
  const taken: (number | undefined)[] = [];
  const ends: (Error | null)[] = [];
  const seen = { opened: 0, closed: 0 };
  const stream = new PullStream<number>({
    open: () => {
      seen.opened += 1;
    },
    take: () => ready.shift(),
    close: () => {
      seen.closed += 1;
    },
  });
  const listen = () =>
    stream.listen({
      woken: () => taken.push(stream.take()),
      ended: (error) => ends.push(error),
    });
  return { ready, taken, ends, seen, stream, listen };
}

test('a listener is woken immediately, and then whenever there may be something', () => {
  const { ready, taken, seen, stream, listen } = listenTo([1]);
  listen();
  ready.push(2);
  stream.wake();
  stream.wake();
  expect(taken).toEqual([1, 2, undefined]);
  expect(seen).toEqual({ opened: 1, closed: 0 });
});

test('a listener is notified once of the end, with the reason', () => {
  const { ready, taken, ends, seen, stream, listen } = listenTo();
  listen();
  const over = new Error('over');
  stream.end(over);
  stream.end();
  ready.push(1);
  stream.wake();
  expect(stream.take()).toBeUndefined();
  expect([taken, ends, seen.closed]).toEqual([[undefined], [over], 1]);
});

test('a stream that ended before it had a listener notifies a late one', () => {
  const { ends, stream, listen } = listenTo();
  stream.end();
  listen();
  expect(ends).toEqual([null]);
});
