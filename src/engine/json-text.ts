import type { ExecutionResult } from 'graphql';
import type { Meter } from './limits/meter.ts';

type Eventually<T> = T | Promise<T>;

// JSON.stringify writes this many nodes within some tens of microseconds.
const NODES_AT_ONCE = 256;
const PIECES_BETWEEN_LOOKS = 32;

/** Serializes the result: synchronously, or in slices where it is large. */
export function jsonText(result: ExecutionResult, meter: Meter): Eventually<string> {
  return meter.isCostly ? textInSlices(result, meter) : JSON.stringify(result);
}

async function textInSlices(result: ExecutionResult, meter: Meter): Promise<string> {
  const { scheduler, client } = meter;
  const writer = new JsonWriter(result);
  while (!writer.isDone) {
    if (scheduler.isSliceOver()) await scheduler.turn(client);
    writer.write(PIECES_BETWEEN_LOOKS);
  }
  return writer.text;
}

/** A list or an object that is partly written. */
interface Open {
  readonly values: readonly unknown[];
  /** Null for a list. */
  readonly keys: readonly string[] | null;
  at: number;
}

/** Writes data piece by piece, exactly as JSON.stringify would. */
class JsonWriter {
  readonly #open: Open[] = [];
  text = '';

  constructor(value: object) {
    this.#enter(value);
  }

  get isDone(): boolean {
    return this.#open.length === 0;
  }

  write(pieces: number): void {
    for (let left = pieces; left > 0 && !this.isDone; left -= 1) this.#next();
  }

  #next(): void {
    const open = this.#open.at(-1) as Open;
    if (open.at === open.values.length) {
      this.text += open.keys ? '}' : ']';
      this.#open.pop();
      return;
    }
    const value = open.values[open.at];
    const key = open.keys?.[open.at];
    this.text += `${open.at > 0 ? ',' : ''}${key === undefined ? '' : `${JSON.stringify(key)}:`}`;
    open.at += 1;
    // JSON.stringify writes an undefined item of a list as null; undefined properties are filtered earlier.
    if (isSmall(value)) this.text += JSON.stringify(value) ?? 'null';
    else this.#enter(value as object);
  }

  #enter(value: object): void {
    if (Array.isArray(value)) {
      this.text += '[';
      this.#open.push({ values: value, keys: null, at: 0 });
      return;
    }
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    this.text += '{';
    const keys = entries.map(([key]) => key);
    this.#open.push({ values: entries.map(([, each]) => each), keys, at: 0 });
  }
}

/** True for a value that is written in one call; one with a `toJSON`, as errors have, always is. */
function isSmall(value: unknown): boolean {
  return nodesIn(value, NODES_AT_ONCE) <= NODES_AT_ONCE;
}

function nodesIn(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return 1;
  let nodes = 1;
  for (const each of Array.isArray(value) ? value : Object.values(value)) {
    nodes += nodesIn(each, limit - nodes);
    if (nodes > limit) break;
  }
  return nodes;
}
