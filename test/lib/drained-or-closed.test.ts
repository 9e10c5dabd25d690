import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { drainedOrClosed } from '../../src/sandbox/spoil.ts';

function startFullStream() {
  let take = () => {};
  const stream = new Writable({
    highWaterMark: 1,
    write(_chunk, _encoding, done) {
      take = done;
    },
  });
  expect(stream.write('more than it takes')).toBe(false);
  return { stream, take: () => take() };
}

test.each<[string, (full: ReturnType<typeof startFullStream>) => unknown]>([
  ['when the reader has taken all', ({ take }) => take()],
  ['when the stream is closed', ({ stream }) => stream.destroy()],
])('the wait for a full stream ends %s, and leaves no listener', async (_when, end) => {
  const full = startFullStream();
  let isOver = false;
  const waiting = drainedOrClosed(full.stream).then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  expect(isOver).toBe(false);
  end(full);
  await waiting;
  expect(full.stream.listenerCount('drain') + full.stream.listenerCount('close')).toBe(0);
});
