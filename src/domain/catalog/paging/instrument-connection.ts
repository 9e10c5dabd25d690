import type { Instrument } from '../../../gateway/model.ts';
import type { Sequence } from './instrument-order.ts';

/** One page. Its parts are computed when they are read, so that selecting `nodes` pays for no cursor. */
export class InstrumentConnection {
  readonly #sequence: Sequence;
  readonly #ordinals: Uint32Array;
  readonly #start: number;
  readonly #end: number;

  /** `ordinals` are those of all pages; this one's are from `start` to before `end`. */
  constructor(sequence: Sequence, ordinals: Uint32Array, start: number, end: number) {
    this.#sequence = sequence;
    this.#ordinals = ordinals;
    this.#start = start;
    this.#end = end;
  }

  get totalCount(): number {
    return this.#ordinals.length;
  }

  get nodes(): readonly Instrument[] {
    return this.#page((ordinal) => this.#sequence.at(ordinal));
  }

  get edges(): readonly InstrumentEdge[] {
    return this.#page((ordinal) => new InstrumentEdge(this.#sequence, ordinal));
  }

  get pageInfo() {
    const isEmpty = this.#end === this.#start;
    return {
      hasNextPage: this.#end < this.#ordinals.length,
      hasPreviousPage: this.#start > 0,
      startCursor: isEmpty ? null : this.#cursorAt(this.#start),
      endCursor: isEmpty ? null : this.#cursorAt(this.#end - 1),
    };
  }

  #page<T>(make: (ordinal: number) => T): T[] {
    return Array.from(this.#ordinals.subarray(this.#start, this.#end), make);
  }

  #cursorAt(at: number): string {
    return this.#sequence.cursorOf(this.#ordinals[at] as number);
  }
}

export type PageInfo = InstrumentConnection['pageInfo'];

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
