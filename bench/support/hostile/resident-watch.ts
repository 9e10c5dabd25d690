import { readFileSync } from 'node:fs';
import type { ProbedProcess } from '../probed-process.ts';

const LOOK_EVERY_MS = 50;
const PAGE_BYTES = 4_096;
const MOST_BYTES = 4 * 1_073_741_824;

/**
 * Watches the resident memory of a process by the kernel's account: a process whose event loop is blocked
 * cannot report it itself. One that takes more than the machine should give is killed.
 */
export class ResidentWatch implements Disposable {
  readonly #process: ProbedProcess;
  readonly #mostBytes: number;
  readonly #timer: NodeJS.Timeout;
  peakBytes: number;
  /** True where it took so much that it was killed for it. */
  isOver = false;

  constructor(process: ProbedProcess, mostBytes = MOST_BYTES) {
    this.#process = process;
    this.#mostBytes = mostBytes;
    this.peakBytes = residentBytes(process);
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  #look(): void {
    if (this.#process.hasEnded) return;
    this.peakBytes = Math.max(this.peakBytes, residentBytes(this.#process));
    if (this.isOver || this.peakBytes < this.#mostBytes) return;
    this.isOver = true;
    void this.#process[Symbol.asyncDispose]();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** 0 where the machine has no such account, or the process has exited. */
export function residentBytes({ pid }: ProbedProcess): number {
  try {
    const [, resident] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
    return Number(resident) * PAGE_BYTES;
  } catch {
    return 0;
  }
}
