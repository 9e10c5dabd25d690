import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The contestant has one core to itself; the load generator and the gateway share another. */
export const CONTESTANT_CORE = 1;
export const GATEWAY_CORE = 0;

let pins: boolean | undefined;

/** Where cores cannot be chosen the bench still runs, only noisier. */
export function canPin(): boolean {
  pins ??= availableParallelism() > 1 && hasTaskset();
  return pins;
}

export function pinOwnProcess(): void {
  if (!canPin()) return;
  execFileSync('taskset', ['-a', '-p', '-c', String(GATEWAY_CORE), String(process.pid)], {
    stdio: 'ignore',
  });
}

/** The command with its core in front of it. */
export function onCore(core: number, command: string, args: readonly string[]): string[] {
  return canPin() ? ['taskset', '-c', String(core), command, ...args] : [command, ...args];
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
