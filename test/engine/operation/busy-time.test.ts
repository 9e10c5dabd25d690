import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BusyTime } from '../../../src/engine/operation/request-summary.ts';

test('it is as long as the moments at which a span lasted', () => {
  const span = fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)]);
  fc.assert(
    fc.property(fc.array(span, { maxLength: 12 }), (unordered) => {
      const spans = unordered.toSorted((a, b) => (a[1] as number) - (b[1] as number));
      const busy = new BusyTime();
      for (const [start, end] of spans) busy.add(start as number, end as number);
      const moments = new Set<number>();
      for (const [start, end] of spans) {
        for (let at = start as number; at < (end as number); at += 1) moments.add(at);
      }
      expect(busy.ms).toBe(moments.size);
    }),
  );
});
