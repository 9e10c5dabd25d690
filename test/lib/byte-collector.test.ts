import { expect, test, vi } from 'vitest';
import { ByteCollector } from '../../src/lib/byte-collector.ts';

test('pieces of any size become one buffer in their order', () => {
  const pieces = [1, 700, 0, 3, 4_000, 1, 90_000].map((size, at) => Buffer.alloc(size, 65 + at));
  const collector = new ByteCollector({ maxBytes: 1_000_000 });
  for (const piece of pieces) expect(collector.add(piece)).toBe('kept');
  expect(collector.take().equals(Buffer.concat(pieces))).toBe(true);
  expect(collector.take()).toHaveLength(0);
});

test('bytes beyond the limit are refused; exactly the limit is accepted', () => {
  const collector = new ByteCollector({ maxBytes: 5 });
  expect(collector.add(Buffer.from('1234'))).toBe('kept');
  expect(collector.add(Buffer.from('56'))).toBe('too many bytes');
  expect(collector.add(Buffer.from('5'))).toBe('kept');
  expect(String(collector.take())).toBe('12345');
});

test('more pieces than the size justifies are refused', () => {
  const collector = new ByteCollector({ maxBytes: 1_000, freePieces: 10 });
  const outcomes = Array.from({ length: 15 }, () => collector.add(Buffer.from('x')));
  expect(outcomes.filter((outcome) => outcome === 'kept')).toHaveLength(10);
  expect(outcomes.at(-1)).toBe('too many pieces');
  // 128 bytes justify one piece beyond the ten.
  expect(collector.add(Buffer.alloc(117))).toBe('too many pieces');
  expect(collector.add(Buffer.alloc(118))).toBe('kept');
});

test.each([0, 262_144])(
  'the buffer is at most twice the size of the bytes, for any announced size (%s)',
  (announcedBytes) => {
    const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow');
    const collector = new ByteCollector({ maxBytes: 262_144, announcedBytes });
    let length = 0;
    while (length < 200_000) {
      collector.add(Buffer.alloc(1_400));
      length += 1_400;
      expect(allocated.mock.lastCall?.[0] ?? 0).toBeLessThanOrEqual(2 * length);
    }
    expect(allocated.mock.calls.length).toBeGreaterThan(3);
    expect(collector.take().buffer.byteLength).toBeLessThanOrEqual(2 * length);
  },
);
