import type { ProbedProcess } from '../probed-process.ts';

const LOOK_EVERY_MS = 50;
const MOST_BYTES = 4 * 1_073_741_824;

/** Watches the resident memory of a process; one that takes more than the machine should give is killed. */
export class ResidentWatch implements Disposable {
  readonly #process: ProbedProcess;
  readonly #timer: NodeJS.Timeout;
  peakBytes: number;
  /** True where it took so much that it was killed for it. */
  isOver = false;

  constructor(process: ProbedProcess) {
    this.#process = process;
    this.peakBytes = process.residentBytes;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  #look(): void {
    this.peakBytes = Math.max(this.peakBytes, this.#process.residentBytes);
    if (this.isOver || this.peakBytes < MOST_BYTES) return;
    this.isOver = true;
    void this.#process[Symbol.asyncDispose]();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
