import { type ExecutionResult, GraphQLError } from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { requestError, tooComplex } from './request-error.ts';

/** Thrown if an answer exceeds its budget. It is a singleton, because capturing a stack costs more than a field. */
export const OVER_BUDGET = new Error('the answer exceeds its budget');

/** An answer of more fields than this is completed in slices. Screens have far fewer. */
export const COSTLY_FIELDS = 5_000;
/** A text counts as one field, and one more for each further group of this many characters. */
const CHARACTERS_PER_FIELD = 64;
/** Entries that are scanned count as one field for each group of this many. */
const ENTRIES_PER_FIELD = 8;
/** An error takes a few hundred characters of the answer, and longer to make than several fields. */
export const FIELDS_PER_ERROR = 16;

const NO_WAIT = Promise.resolve();

interface MeterOptions {
  /** The budget of the answer, in fields. */
  readonly maxFields: number;
  readonly scheduler: FairScheduler;
  /** The client whose queue in the FairScheduler the slices join. */
  readonly client: string;
  /** The number of fields estimated before the run. */
  readonly estimate: number;
  /** Aborted when the client has left. Undefined for a mutation, whose writes are completed even then. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the operation is a mutation. Its writes do not wait, and its reads have their own share of the scheduler. */
  readonly isWrite?: boolean;
}

/** Counts the fields of one answer while it is completed, and decides when to yield. */
export class Meter {
  readonly maxFields: number;
  readonly scheduler: FairScheduler;
  readonly client: string;
  readonly #estimate: number;
  readonly #signal: AbortSignal | undefined;
  readonly #isWrite: boolean;
  /** Resolves when the scheduler has room for the client's answer; null before the meter has asked for room. */
  #room: Promise<void> | null = null;
  /** The fields counted by finished compiled runs and by the reference executor. */
  fields = 0;
  /** The fields counted by the reference executor since it started. */
  #counted = 0;
  #isOver = false;

  constructor(options: MeterOptions) {
    const { maxFields, scheduler, client, estimate, signal } = options;
    this.#isWrite = options.isWrite ?? false;
    this.maxFields = maxFields;
    this.scheduler = scheduler;
    this.client = client;
    this.#estimate = estimate;
    this.#signal = signal;
  }

  /** Resolves in the first turn of a costly run, when there is room for its answer. Call `leave` at its end. */
  async begin(): Promise<void> {
    if (!this.#isWrite) await this.#enter();
    await this.scheduler.turn(this.client);
  }

  /** Resolves when a list can be made. Only the lists of a costly mutation wait for room; null for other operations. */
  get listRoom(): Promise<void> | null {
    return this.#isWrite && this.#estimate > COSTLY_FIELDS ? this.#enter() : null;
  }

  #enter(): Promise<void> {
    this.#room ??= this.scheduler.enter(this.#shareName, this.#estimate);
    return this.#room;
  }

  leave(): void {
    const room = this.#room;
    // After an error elsewhere a list may still begin. Its result is not used, so it must not wait.
    this.#room = NO_WAIT;
    if (room === null || room === NO_WAIT) return;
    const left = room.then(() => this.scheduler.leave(this.#shareName, this.#estimate));
    fireAndForget('response', left);
  }

  get #shareName(): string {
    return this.#isWrite ? `writes ${this.client}` : this.client;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Call it when a turn begins. If the client has left, its answer ends like one over its budget. */
  isOverNow(): boolean {
    if (this.#signal?.aborted) this.#isOver = true;
    return this.#isOver;
  }

  get isCostly(): boolean {
    return this.#estimate > COSTLY_FIELDS || this.fields > COSTLY_FIELDS;
  }

  /** Called before the reference executor takes over, because earlier counts do not belong to its answer. */
  restart(): void {
    this.#counted = 0;
  }

  /** Returns false if the answer exceeds its budget. */
  count(fields: number): boolean {
    this.fields += fields;
    this.#counted += fields;
    if (this.#counted > this.maxFields) this.#isOver = true;
    return !this.#isOver;
  }

  scanned(entries: number): void {
    this.count(extraForList(entries));
  }

  /** Adds the fields that a compiled run has counted itself. */
  ran(fields: number): void {
    this.fields += fields;
    if (fields > this.maxFields) this.#isOver = true;
  }

  /** Counting stops at the first field over budget, so the error reports that number. */
  error(): GraphQLError {
    if (this.#signal?.aborted) return requestError('QUERY_TOO_COMPLEX', 'Its client has left.');
    return tooComplex('MAX_COST', this.maxFields + 1, this.maxFields);
  }
}

/** The number of fields that a text counts as in addition to its own field. */
export function extraForText(length: number): number {
  return Math.floor(length / CHARACTERS_PER_FIELD);
}

export function extraForList(scannedEntries: number): number {
  return Math.floor(scannedEntries / ENTRIES_PER_FIELD);
}

/** The weight of a field's response key, which a client can make of any length. */
export function weightOfKey(key: string): number {
  return 1 + extraForText(key.length);
}

/** A run over its budget becomes one error. A mutation keeps its outcomes, and its incomplete reads become null. */
export function withinBudget(
  result: ExecutionResult,
  meter: Meter,
  isMutation: boolean,
): ExecutionResult {
  if (!meter.isOver) return result;
  return isMutation ? withoutCutReads(result, meter) : { data: null, errors: [meter.error()] };
}

// A read of a mutation is a direct child of the field that writes, so its path has two keys.
const READ_PATH_LENGTH = 2;

/** Makes each read that exceeded the budget null, with one error in place of its errors. */
function withoutCutReads({ data, errors = [] }: ExecutionResult, meter: Meter): ExecutionResult {
  const cutReads = new Map<string, GraphQLError>();
  for (const { originalError, path = [], nodes } of errors) {
    if (originalError !== OVER_BUDGET) continue;
    const read = path.slice(0, READ_PATH_LENGTH);
    const name = read.join(' ');
    if (cutReads.has(name)) continue;
    const { message, extensions } = meter.error();
    cutReads.set(name, new GraphQLError(message, { nodes, path: read, extensions }));
    if (data) setNull(data, read);
  }
  const nameOf = ({ path = [] }: GraphQLError) => path.slice(0, READ_PATH_LENGTH).join(' ');
  const others = errors.filter((error) => !cutReads.has(nameOf(error)));
  return { data: data ?? null, errors: [...others, ...cutReads.values()] };
}

function setNull(data: Record<string, unknown>, [write, read]: readonly (string | number)[]): void {
  const outcome = data[String(write)];
  if (typeof outcome !== 'object' || outcome === null || read === undefined) return;
  (outcome as Record<string, unknown>)[String(read)] = null;
}
