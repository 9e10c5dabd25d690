import { expect, test } from 'vitest';
import { MemoryWatch } from '../../src/app/memory-watch.ts';
import { eventually } from '../support/eventually.ts';
import { heldBytes } from '../support/heap.ts';

/** A watch with its limit, and the lines that it has logged. */
function openWatch(limitBytes: number) {
  const lines: string[] = [];
  const log = {
    warn: (_record: object, line: string) => lines.push(`warn ${line}`),
    info: () => {},
  };
  return { lines, watch: new MemoryWatch(log as never, limitBytes) };
}

test('a live heap above four fifths of the limit degrades readiness, and is logged once', async () => {
  const held = heldBytes();
  const [short, roomy] = [openWatch(held / 10), openWatch(100 * held)];
  {
    using _short = short.watch;
    using _roomy = roomy.watch;
    await eventually(
      () => heldBytes() > 0 && short.watch.heldShare > 0 && roomy.watch.heldShare > 0,
    );
    await eventually(() => heldBytes() > 0 && short.watch.degradedReason() !== null);
    expect(short.watch.degradedReason()).toMatch(/^\d+ % of the heap are held$/);
    expect(short.lines).toEqual(['warn memory is short']);
    expect([roomy.watch.degradedReason(), roomy.lines]).toEqual([null, []]);
    expect(roomy.watch.heldShare).toBeLessThan(0.1);
  }
});
