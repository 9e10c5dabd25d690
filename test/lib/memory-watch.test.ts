import { expect, test } from 'vitest';
import { watchMemory } from '../../lib/memory-watch.ts';
import { eventually } from '../support/eventually.ts';
import { heldBytes } from '../support/heap.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

test('memory that is short is collected again after five seconds, unless the watch is over', async () => {
  const clock = createScriptedClock();
  const watch = watchMemory({ warn() {}, info() {} }, clock);
  const { constrainedMemory } = process;
  try {
    process.constrainedMemory = () => 1;
    await eventually(() => heldBytes() > 0 && watch.isShort);
    await clock.advance(4_999);
    process.constrainedMemory = () => Number.MAX_SAFE_INTEGER;
    expect(watch.isShort).toBe(true);
    await clock.advance(1);
    expect([watch.isShort, clock.pending]).toEqual([false, 0]);
    process.constrainedMemory = () => 1;
    await eventually(() => heldBytes() > 0 && watch.isShort);
    await clock.advance(5_000);
    expect(clock.pending).toBe(1);
    watch.close();
    expect(clock.pending).toBe(0);
  } finally {
    process.constrainedMemory = constrainedMemory;
  }
});
