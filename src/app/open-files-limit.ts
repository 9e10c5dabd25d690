import { readFileSync } from 'node:fs';

/** How many files and sockets the process may have open (`ulimit -n`), which Node raises as far as it may; Infinity where the system does not tell. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
