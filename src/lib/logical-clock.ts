/** Orders events by a counter, because a wall clock may stand still between two of them, or jump back. */
export class LogicalClock {
  #last = 0;

  next(): number {
    this.#last += 1;
    return this.#last;
  }
}
