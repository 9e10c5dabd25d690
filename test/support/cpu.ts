/** Kernels count CPU in ticks of up to 10 ms; so much of it is measured well enough. */
const MIN_MICROS = 20_000;
const RUNS = 3;

/**
 * The microseconds of CPU that a task takes in this thread, to compare two sizes of it: what else the machine does is
 * not among them. The least of several runs, because compiled code and collected garbage belong to none of them.
 */
export function cpuOf(task: () => unknown): number {
  return Math.min(...Array.from({ length: RUNS }, () => cpuOfOne(task)));
}

function cpuOfOne(task: () => unknown): number {
  const before = process.threadCpuUsage();
  let micros = 0;
  let times = 0;
  for (; micros < MIN_MICROS; times += 1) {
    task();
    const { user, system } = process.threadCpuUsage(before);
    micros = user + system;
  }
  return micros / times;
}
