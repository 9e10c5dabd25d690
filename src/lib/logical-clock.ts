/**
 * What began after what, without a clock: a clock may stand still between two events, or jump back.
 */
export class LogicalClock {
  #last = 0;

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}
