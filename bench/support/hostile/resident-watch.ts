import type { ProbedProcess } from '../probed-process.ts';

const LOOK_EVERY_MS = 50;
const MAX_BYTES = 4 * 1_073_741_824;

/** Watches the resident memory of a process; one that takes more than the machine should give is killed. */
export function watchResident(process: ProbedProcess) {
  const before = process.residentBytes;
  let peak = before;
  const isOver = () => peak >= MAX_BYTES;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.residentBytes);
    if (isOver()) void process[Symbol.asyncDispose]();
  }, LOOK_EVERY_MS);
  return {
    grownBytes: () => peak - before,
    /** True where it took so much that it was killed for it. */
    isOver,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
