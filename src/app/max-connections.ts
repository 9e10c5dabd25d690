import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { CONNECTIONS } from '../engine/index.ts';

/** Files of the order store, connections of Redis and of the admin port, the log, and what Node has for itself. */
const FILES_BESIDE = 256;

const LEAST = 64;
/** With fewer, connections run out before a core's CPU does. */
const ENOUGH = 4_000;

/** How many connections are taken at once: the order store and the gateway are reached as long as anybody is connected. */
export function maxConnections(
  { gatewayConnections }: Pick<Config, 'gatewayConnections'>,
  openFiles = openFilesLimit(),
): number {
  const left = openFiles - FILES_BESIDE - gatewayConnections;
  return Math.max(1, Math.min(CONNECTIONS.most, left));
}

/** Faults of a limit of open files that leaves too few connections to serve anybody, or fewer than a core can. */
export function connectionFaults(config: Config, openFiles = openFilesLimit()) {
  const left = maxConnections(config, openFiles);
  const limit = `Open files: the limit of ${openFiles} (ulimit -n)`;
  const { most } = CONNECTIONS;
  if (left < LEAST) {
    const text = `${limit} leaves no room for ${LEAST} connections beside GATEWAY_CONNECTIONS=${config.gatewayConnections}`;
    return { problems: [text], warnings: [] };
  }
  const text = `${limit} leaves room for ${left} of ${most} connections`;
  return { problems: [], warnings: left < ENOUGH ? [text] : [] };
}

/** How many files and sockets the process may have open (`ulimit -n`), which Node raises as far as it may; Infinity where the system does not tell. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
