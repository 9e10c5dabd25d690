/** Kernels count CPU in ticks of up to 10 ms, so shorter measurements are too inexact. */
const MIN_MICROS = 20_000;
const RUNS = 3;

/**
 * The microseconds of CPU that a task takes in this thread, without the other load of the machine. The minimum of several
 * runs leaves out compilation and garbage collection, so that tests can compare two sizes of a task.
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
