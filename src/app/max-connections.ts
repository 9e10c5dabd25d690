import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { CONNECTIONS } from '../engine/index.ts';

/** Files of the order store, connections of Redis and of the admin port, the log, and what Node itself opens. */
const OTHER_FILES = 256;

/** The most connections of clients: they leave open files to the order store and the gateway. */
export function maxConnections({ gatewayConnections }: Pick<Config, 'gatewayConnections'>): number {
  const left = openFilesLimit() - OTHER_FILES - gatewayConnections;
  return Math.max(1, Math.min(CONNECTIONS.most, left));
}

/** How many files and sockets the process may have open (`ulimit -n`); Infinity where the system does not say. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
