import { expect, test } from 'vitest';
import { MemoryWatch } from '../../src/app/memory-watch.ts';
import { eventually } from '../support/eventually.ts';
import { heldBytes } from '../support/heap.ts';

test('a live heap above four fifths of the limit degrades readiness', async () => {
  // heldBytes() collects garbage, after which MemoryWatch measures the heap.
  const held = heldBytes();
  using short = new MemoryWatch(held / 10);
  using roomy = new MemoryWatch(100 * held);
  await eventually(() => heldBytes() > 0 && short.heldShare > 0 && roomy.heldShare > 0);
  await eventually(() => heldBytes() > 0 && short.degradedReason() !== null);
  expect(short.degradedReason()).toMatch(/^\d+ % of the heap are held$/);
  expect(roomy.degradedReason()).toBeNull();
  expect(roomy.heldShare).toBeLessThan(0.1);
});
