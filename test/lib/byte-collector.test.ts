import { expect, test, vi } from 'vitest';
import { ByteCollector } from '../../src/lib/byte-collector.ts';

test('pieces of any size become one buffer in their order', () => {
  const pieces = [1, 700, 0, 3, 4_000, 1, 90_000].map((size, index) =>
    Buffer.alloc(size, 65 + index),
  );
  const collector = new ByteCollector(1_000_000);
  for (const piece of pieces) expect(collector.add(piece)).toBe(true);
  expect(collector.take().equals(Buffer.concat(pieces))).toBe(true);
  expect(collector.take()).toHaveLength(0);
});

test('bytes beyond the limit are refused; exactly the limit is accepted', () => {
  const collector = new ByteCollector(5);
  expect(collector.add(Buffer.from('1234'))).toBe(true);
  expect(collector.add(Buffer.from('56'))).toBe(false);
  expect(collector.add(Buffer.from('5'))).toBe(true);
  expect(String(collector.take())).toBe('12345');
});

test('the buffer is at most twice the size of the bytes', () => {
  const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow');
  const collector = new ByteCollector(262_144);
  let length = 0;
  while (length < 200_000) {
    collector.add(Buffer.alloc(1_400));
    length += 1_400;
    expect(allocated.mock.lastCall?.[0] ?? 0).toBeLessThanOrEqual(2 * length);
  }
  expect(allocated.mock.calls.length).toBeGreaterThan(3);
  expect(collector.take().buffer.byteLength).toBeLessThanOrEqual(2 * length);
});
