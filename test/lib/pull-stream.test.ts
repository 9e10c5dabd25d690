import { expect, test } from 'vitest';
import { PullStream } from '../../src/lib/pull-stream.ts';

function createNumbers() {
  const ready: number[] = [];
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
  return { ready, seen, stream };
}

test('a value is made when it is asked for, and a reader that waits is woken', async () => {
  const { ready, stream } = createNumbers();
  ready.push(1);
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

test('an error is the last thing a reader gets, once', async () => {
  const { seen, stream } = createNumbers();
  const waiting = [stream.next(), stream.next()];
  stream.end(new Error('over'));
  stream.end(new Error('over again'));
  await expect(waiting[0]).rejects.toThrow('over');
  expect(await waiting[1]).toEqual({ value: undefined, done: true });
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  expect(seen.closed).toBe(1);
});

test('an error waits for a reader that is not reading', async () => {
  const { ready, stream } = createNumbers();
  ready.push(1);
  await stream.next();
  stream.end(new Error('over'));
  await expect(stream.next()).rejects.toThrow('over');
});

test('`await using` closes the stream', async () => {
  const { ready, seen, stream } = createNumbers();
  ready.push(1);
  {
    await using open = stream;
    await open.next();
  }
  expect(seen.closed).toBe(1);
});
