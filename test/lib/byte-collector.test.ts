import { expect, test, vi } from 'vitest';
import { ByteCollector } from '../../src/lib/byte-collector.ts';

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
