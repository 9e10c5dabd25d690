import type { Instrument } from '../../../gateway/model.ts';
import type { Sequence } from './instrument-order.ts';

export type InstrumentConnection = ReturnType<typeof connectionOf>;
export type InstrumentEdge = InstrumentConnection['edges'][number];
export type PageInfo = InstrumentConnection['pageInfo'];

/**
 * One page. Its parts are computed when they are read, so that selecting `nodes` pays for no cursor.
 * `ordinals` are those of all pages; this one's are from `start` to before `end`.
 */
export function connectionOf(
  { at, cursorOf }: Sequence,
  ordinals: Uint32Array,
  start: number,
  end: number,
) {
  const page = () => ordinals.subarray(start, end);
  const cursorAt = (index: number) => cursorOf(ordinals[index] as number);
  return {
    totalCount: ordinals.length,
    get nodes(): readonly Instrument[] {
      return Array.from(page(), at);
    },
    get edges() {
      return Array.from(page(), (ordinal) => ({ node: at(ordinal), cursor: cursorOf(ordinal) }));
    },
    get pageInfo() {
      const isEmpty = end === start;
      return {
        hasNextPage: end < ordinals.length,
        hasPreviousPage: start > 0,
        startCursor: isEmpty ? null : cursorAt(start),
        endCursor: isEmpty ? null : cursorAt(end - 1),
      };
    },
  };
}
