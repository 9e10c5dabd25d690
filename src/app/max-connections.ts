import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { CONNECTIONS } from '../engine/index.ts';

/** Files of the order store, connections of Redis and of the admin port, the log, and the files that Node opens. */
const OTHER_FILES = 256;

/** The maximum number of client connections. The order store and the gateway need the rest of the open files. */
export function maxConnections({ gatewayConnections }: Pick<Config, 'gatewayConnections'>): number {
  const left = openFilesLimit() - OTHER_FILES - gatewayConnections;
  return Math.max(1, Math.min(CONNECTIONS.most, left));
}

/** The number of files and sockets that the process may have open (`ulimit -n`); Infinity if it is unknown. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
