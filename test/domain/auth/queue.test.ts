import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { createQueue } from '../../../src/domain/auth/queue.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';

function stage() {
  const clock = createScriptedClock();
  const queue = createQueue(clock, 2_000);
  const free = new Map<string, number>();
  const ended: string[] = [];
  const mayGo = (key: string) => () => {
    const left = free.get(key) ?? 0;
    free.set(key, Math.max(0, left - 1));
    return left > 0;
  };
  return {
    clock,
    queue,
    ended,
    makeRoom(key: string, places: number) {
      free.set(key, places);
      queue.wake(key);
    },
    wait(key: string, name: string, signal?: AbortSignal) {
      void queue.wait(key, mayGo(key), signal).then((hasGone) => {
        ended.push(`${name} ${hasGone ? 'went' : 'left'}`);
      });
    },
  };
}

test('those who wait go in the order of their arrival, as many as there is room', async () => {
  const { clock, ended, makeRoom, wait } = stage();
  for (const name of ['a', 'b', 'c']) wait('x', name);
  wait('y', 'other');
  makeRoom('x', 2);
  await clock.advance(0);
  expect(ended).toEqual(['a went', 'b went']);
  makeRoom('x', 1);
  makeRoom('y', 1);
  await clock.advance(0);
  expect(ended).toEqual(['a went', 'b went', 'c went', 'other went']);
  expect(clock.pending).toBe(0);
});

test('one that nobody waits for leaves at once, and keeps nobody behind it', async () => {
  const { clock, ended, makeRoom, wait } = stage();
  const controller = new AbortController();
  wait('x', 'gone', controller.signal);
  const { signal } = new AbortController();
  wait('x', 'next', signal);
  wait('x', 'gone before', AbortSignal.abort());
  controller.abort();
  await clock.advance(0);
  expect(ended).toEqual(['gone before left', 'gone left']);
  makeRoom('x', 1);
  await clock.advance(0);
  expect(ended.at(-1)).toBe('next went');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(clock.pending).toBe(0);
});

test('a line holds a thousand, and all together ten thousand', async () => {
  const { clock, ended, wait } = stage();
  for (let line = 0; line < 10; line += 1) {
    for (let at = 0; at < 1_000; at += 1) wait(String(line), '');
    if (line === 0) wait('0', 'too many of a line:');
  }
  wait('another', 'too many in all:');
  await clock.advance(0);
  expect(ended).toEqual(['too many of a line: left', 'too many in all: left']);
  await clock.advance(2_000);
  wait('another', 'later');
  await clock.advance(0);
  expect(ended).not.toContain('later left');
});
