import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MemoryWatch } from '../../src/app/memory-watch.ts';
import { eventually } from '../support/eventually.ts';
import { heldBytes } from '../support/heap.ts';

test('a live heap above four fifths of the limit degrades readiness', async () => {
  const heapBytes = heldBytes();
  using short = new MemoryWatch(heapBytes / 10);
  using roomy = new MemoryWatch(100 * heapBytes);
  // Each call of `heldBytes` collects garbage, after which the watches measure the heap.
  await eventually(() => heldBytes() > 0 && short.heldShare > 0 && roomy.heldShare > 0);
  await eventually(() => heldBytes() > 0 && short.degradedReason() !== null);
  expect(short.degradedReason()).toMatch(/^\d+ % of the heap are held$/);
  expect(roomy.degradedReason()).toBeNull();
  expect(roomy.heldShare).toBeLessThan(0.1);
});

const MODULE = join(import.meta.dirname, '..', '..', 'src', 'app', 'memory-watch.ts');

test.each([96, 512, 2_048])('a heap with an old space of %i MB has that limit', (oldMb) => {
  const script = `console.log((await import(${JSON.stringify(MODULE)})).oldHeapLimit() / 1024 ** 2)`;
  const flags = [`--max-old-space-size=${oldMb}`, '--input-type=module', '--eval', script];
  expect(Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }))).toBe(oldMb);
});
