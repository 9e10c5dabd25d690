import { expect, test } from 'vitest';
import { PullStream } from '../../lib/pull-stream.ts';

function createNumbers(...ready: number[]) {
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

test('a value is made when it is asked for, and a reader that waits is woken', async () => {
  const { ready, stream } = createNumbers(1);
  expect(await stream.next()).toEqual({ value: 1, done: false });
  const later = stream.next();
  stream.wake();
  ready.push(2);
  stream.wake();
  expect(await later).toEqual({ value: 2, done: false });
});

test('a stream without a reader is never opened, so it has nothing to close', async () => {
  const { seen, stream } = createNumbers();
  await stream.return();
  expect(seen).toEqual({ opened: 0, closed: 0 });
  expect(await stream.next()).toEqual({ value: undefined, done: true });
});

test('an error is the last thing a reader gets, once, even one that was not reading', async () => {
  const { seen, stream } = createNumbers();
  const waiting = [stream.next(), stream.next()];
  stream.end(new Error('over'));
  stream.end(new Error('over again'));
  await expect(waiting[0]).rejects.toThrow('over');
  expect(await waiting[1]).toEqual({ value: undefined, done: true });
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  expect(seen.closed).toBe(1);
  const idle = createNumbers(1);
  await idle.stream.next();
  idle.stream.end(new Error('over'));
  await expect(idle.stream.next()).rejects.toThrow('over');
});

test('a listener is woken immediately, whenever there may be something, and told once of the end', () => {
  const { ready, taken, ends, seen, stream, listen } = createNumbers(1);
  listen();
  ready.push(2);
  stream.wake();
  stream.wake();
  expect(taken).toEqual([1, 2, undefined]);
  expect(seen).toEqual({ opened: 1, closed: 0 });
  const over = new Error('over');
  stream.end(over);
  stream.end();
  ready.push(3);
  stream.wake();
  expect(stream.take()).toBeUndefined();
  expect([taken.length, ends, seen.closed]).toEqual([3, [over], 1]);
});

test('a stream that ended before it had a listener notifies a late one', () => {
  const { ends, stream, listen } = createNumbers();
  stream.end();
  listen();
  expect(ends).toEqual([null]);
});
