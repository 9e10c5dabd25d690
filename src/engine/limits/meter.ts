import type { GraphQLError } from 'graphql';
import type { FairScheduler } from '../../lib/fair-scheduler.ts';
import { tooComplex } from './limits.ts';

/** Thrown where an answer grows beyond its budget; what was built of it is let go. */
export class OverBudgetError extends Error {
  override readonly name = 'OverBudgetError';
}

// One for all: its stack would say nothing, and taking it costs more than a field.
export const OVER_BUDGET = new OverBudgetError();

/** Above this many fields an answer is made in slices. Screens stay far below. */
export const COSTLY_FIELDS = 5_000;
/** A text counts one field, and one more for each further so many characters. */
const CHARACTERS_PER_FIELD = 64;
/** A list of texts or numbers counts one field, and one more for each further so many entries. */
const ENTRIES_PER_FIELD = 8;
/** An error takes some hundred characters of the answer, and longer to make than many a field. */
export const FIELDS_PER_ERROR = 16;

export interface MeterOptions {
  /** How many fields the answer may hold. */
  readonly maxFields: number;
  readonly scheduler: FairScheduler;
  /** Whose turn it takes when the answer is made in slices. */
  readonly client: string;
  /** How many fields were expected before the run. */
  readonly estimate: number;
}

/** Counts what one answer holds while it is made, and says when to pause. */
export class Meter {
  readonly maxFields: number;
  readonly scheduler: FairScheduler;
  readonly client: string;
  readonly #estimate: number;
  /** Fields counted by runs that ended, and by the reference executor. */
  fields = 0;
  /** The reference executor's, since it began. */
  #counted = 0;
  #isOver = false;

  constructor({ maxFields, scheduler, client, estimate }: MeterOptions) {
    this.maxFields = maxFields;
    this.scheduler = scheduler;
    this.client = client;
    this.#estimate = estimate;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isCostly(): boolean {
    return this.#estimate > COSTLY_FIELDS || this.fields > COSTLY_FIELDS;
  }

  /** For an executor that begins anew: what another counted before it was work, but is no part of the answer. */
  restart(): void {
    this.#counted = 0;
  }

  /** False where the answer has grown beyond its budget. */
  count(fields: number): boolean {
    this.fields += fields;
    this.#counted += fields;
    if (this.#counted > this.maxFields) this.#isOver = true;
    return !this.#isOver;
  }

  /** What a compiled run has counted by itself. */
  ran(fields: number): void {
    this.fields += fields;
    if (fields > this.maxFields) this.#isOver = true;
  }

  /** Counting ends with the first field too many, so its number is all that is known of the answer's. */
  error(): GraphQLError {
    return tooComplex('MAX_COST', this.maxFields + 1, this.maxFields);
  }
}

/** What a text counts beyond the field that holds it. */
export function extraForText(length: number): number {
  return Math.floor(length / CHARACTERS_PER_FIELD);
}

/** What a list of leaves counts beyond the field that holds it. */
export function extraForList(length: number): number {
  return Math.floor(length / ENTRIES_PER_FIELD);
}

/** A field and its name in the answer, which a client may make as long as it likes. */
export function weightOfKey(key: string): number {
  return 1 + extraForText(key.length);
}
