import { DatabaseSync } from 'node:sqlite';
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

test.runIf(process.platform === 'linux')(
  'memory that V8 does not hold counts against the container, until what V8 holds has made room in it',
  async () => {
    const watch = watchMemory({ warn() {}, info() {} }, createScriptedClock());
    const { constrainedMemory } = process;
    // Of SQLite's own.
    using database = new DatabaseSync(':memory:');
    let buffer = Buffer.alloc(100_000_000, 1);
    try {
      const held = heldBytes();
      const resident = process.memoryUsage.rss();
      process.constrainedMemory = () => 1.4 * resident;
      await eventually(() => heldBytes() > 0 && watch.heldShare > 0);
      expect(watch.isShort).toBe(false);
      database.exec(`CREATE TABLE t AS SELECT zeroblob(${resident})`);
      await eventually(() => heldBytes() > 0 && watch.isShort);
      expect(buffer.length).toBeGreaterThan(0);
      buffer = Buffer.alloc(0);
      await eventually(() => heldBytes() < held && !watch.isShort);
    } finally {
      process.constrainedMemory = constrainedMemory;
      watch.close();
    }
  },
);
