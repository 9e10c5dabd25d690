import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { connectionFaults, openFilesLimit } from '../app/max-connections.ts';
import { shown } from '../config/shown.ts';
import type { Config } from '../config.ts';
import { oldHeapLimit } from '../lib/heap-limit.ts';
import type { Section } from './section.ts';

/** What a machine or container gives to the process. */
export interface Machine {
  /** The memory that the container may use; Infinity where it has no limit of its own. */
  readonly memoryBytes: number;
  /** The memory that V8 gives to what lives for long. */
  readonly heapBytes: number;
  readonly openFiles: number;
  /** The free room of a folder's disk; null where the folder is not there yet. */
  freeBytes(folder: string): Promise<number | null>;
}

const MB = 1_048_576;
/** What the process holds beside that: Node itself, young objects, buffers of sockets and of the gateway's answers. */
const BESIDE_HEAP_BYTES = 96 * MB;
/** A smaller container refuses sockets before it has many. */
const MIN_MEMORY_BYTES = 256 * MB;
/** The records of an order, its indexes and the journal take half a kilobyte: this is room for two million. */
const ROOM_BYTES = 1_024 * MB;
const MIN_ROOM_BYTES = 64 * MB;

export function thisMachine(): Machine {
  const memoryBytes = process.constrainedMemory();
  return {
    // Without a limit some systems tell 0, others one that is beyond any memory.
    memoryBytes: memoryBytes > 0 ? memoryBytes : Infinity,
    heapBytes: oldHeapLimit(),
    openFiles: openFilesLimit(),
    freeBytes: (folder) =>
      statfs(folder).then(
        ({ bavail, bsize }) => bavail * bsize,
        () => null,
      ),
  };
}

/** Compares what the machine gives with what the service will need. */
export async function checkDeployment(config: Config, machine = thisMachine()): Promise<Section> {
  const problems: string[] = [];
  const warnings: string[] = [];
  const { memoryBytes, heapBytes, openFiles } = machine;
  if (heapBytes + BESIDE_HEAP_BYTES > memoryBytes) {
    const fits = Math.max(MB, memoryBytes - BESIDE_HEAP_BYTES);
    problems.push(
      `Memory: the heap may grow to ${inMb(heapBytes)} and the container has ${inMb(memoryBytes)}, so that it is killed before the service refuses anything: set NODE_OPTIONS=--max-old-space-size=${Math.floor(fits / MB)} or less`,
    );
  }
  if (memoryBytes < MIN_MEMORY_BYTES) {
    warnings.push(
      `Memory: the container has ${inMb(memoryBytes)}: give it at least ${inMb(MIN_MEMORY_BYTES)}`,
    );
  }
  const connections = connectionFaults(config, openFiles);
  problems.push(...connections.problems);
  warnings.push(...connections.warnings);
  const room = await roomOf(config, machine);
  if (room !== null && room < ROOM_BYTES) {
    const text = `Disk: ORDER_STORE=${shown(config.orderStore)} has ${inMb(room)} of room, and orders are refused once there is none`;
    (room < MIN_ROOM_BYTES ? problems : warnings).push(text);
  }
  return { problems, warnings };
}

/** Null where the order records are in no file, or the disk does not tell. */
async function roomOf(
  { redisUrl, orderStore }: Config,
  { freeBytes }: Machine,
): Promise<number | null> {
  if (redisUrl !== null || orderStore === 'memory') return null;
  let folder = dirname(resolve(orderStore));
  for (;;) {
    const bytes = await freeBytes(folder);
    if (bytes !== null || folder === dirname(folder)) return bytes;
    // A start makes the folder of the default.
    folder = dirname(folder);
  }
}

function inMb(bytes: number): string {
  return `${Math.round(bytes / MB)} MB`;
}
