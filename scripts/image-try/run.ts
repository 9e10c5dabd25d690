import { type SpawnSyncOptions, spawnSync } from 'node:child_process';

// A build takes half a minute, Debian as long.
const MAX_MS = 180_000;

/** What a program prints; throws with its last words where it fails. */
export function run(
  command: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    timeout: MAX_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
    ...options,
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim();
  const said = stderr?.trim().split('\n').slice(-15).join('\n');
  throw new Error(`${command}: ${error?.message ?? said}`);
}
