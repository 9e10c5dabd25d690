import type { Instrument } from '../../../gateway/model.ts';
import type { Sequence } from './instrument-order.ts';

export type InstrumentConnection = ReturnType<typeof connectionOf>;
export type PageInfo = InstrumentConnection['pageInfo'];

/**
 * One page. Its parts are computed when they are read, so that selecting `nodes` pays for no cursor.
 * `ordinals` are those of all pages; this one's are from `start` to before `end`.
 */
export function connectionOf(
  sequence: Sequence,
  ordinals: Uint32Array,
  start: number,
  end: number,
) {
  const { at, cursorOf } = sequence;
  const page = () => ordinals.subarray(start, end);
  const cursorAt = (index: number) => cursorOf(ordinals[index] as number);
  return {
    totalCount: ordinals.length,
    get nodes(): readonly Instrument[] {
      return Array.from(page(), at);
    },
    get edges() {
      return Array.from(page(), (ordinal) => new InstrumentEdge(sequence, ordinal));
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

/** A class, since a page has hundreds: making an object with a getter takes ten times as long. */
export class InstrumentEdge {
  readonly #sequence: Sequence;
  readonly #ordinal: number;

  constructor(sequence: Sequence, ordinal: number) {
    this.#sequence = sequence;
    this.#ordinal = ordinal;
  }

  get node(): Instrument {
    return this.#sequence.at(this.#ordinal);
  }

  get cursor(): string {
    return this.#sequence.cursorOf(this.#ordinal);
  }
}
