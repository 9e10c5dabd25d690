import { execFileSync, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

// The subject has one core to itself; the load generator and the gateway share another.
export const SUBJECT_CORE = 1;
export const GATEWAY_CORE = 0;

/** Whether cores can be chosen. If not, the bench runs with more noise. */
const canPin =
  availableParallelism() > 1 &&
  spawnSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' }).status === 0;

export function pinOwnProcess(): void {
  if (!canPin) return;
  const args = ['-a', '-p', '-c', String(GATEWAY_CORE), String(process.pid)];
  execFileSync('taskset', args, { stdio: 'ignore' });
}

/** The command with its core in front of it. */
export function onCore(core: number, command: string, args: readonly string[]): string[] {
  return canPin ? ['taskset', '-c', String(core), command, ...args] : [command, ...args];
}
