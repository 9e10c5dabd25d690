import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FeedState } from '../../../src/domain/feed/feed-state.ts';
import { collectGarbage, scavenge } from '../../support/heap.ts';
import { answerOf, position } from './scripted-gateway.ts';

test('a collection of young objects frees the events of earlier lists', async () => {
  const state = new FeedState({ dateOf: (ms) => ms });
  const events: WeakRef<object>[] = [];
  // Moves the state to the heap's old space. References from there could keep young events alive.
  collectGarbage();
  for (let logicalTime = 1; logicalTime <= 40; logicalTime += 1) {
    const list = [position('a', { profit: logicalTime })];
    state.take('LIVE', answerOf(list, { logicalTime, atMs: logicalTime }));
    events.push(new WeakRef(state.since('list', 0, false)));
    // A WeakRef keeps its target alive until this turn of the event loop ends.
    await setImmediate();
    scavenge();
  }
  expect(events.filter((event) => event.deref() !== undefined).length).toBeLessThan(8);
});
