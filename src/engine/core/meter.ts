import { type ExecutionResult, GraphQLError } from 'graphql';
import { tooComplex } from './errors.ts';

/** Thrown if an answer exceeds its budget. It is a singleton, because capturing a stack costs more than a field. */
export const OVER_BUDGET = new Error('the answer exceeds its budget');

const LARGE_COST = 5_000;
/** A text counts as one field, and one more for each further group of this many characters. */
const CHARACTERS_PER_FIELD = 64;
/** Entries that are scanned count as one field for each group of this many. */
const ENTRIES_PER_FIELD = 8;
/** An error takes a few hundred characters of the answer, and longer to make than several fields. */
export const FIELDS_PER_ERROR = 16;
/** A part of an answer takes longer to make than several fields. */
export const FIELDS_PER_PART = 16;

/** The weights of the parts of an answer, in fields. */
export interface Weights {
  /** The estimated fields of the answer. */
  readonly cost: number;
  /** The fields that are in no list. */
  readonly ownFields: number;
  /** The fields of one item of each list, by the list's key. */
  readonly itemFields: ReadonlyMap<number, number>;
}

/** Counts the fields of one answer, those of a list before its items are made. */
export class Meter {
  readonly maxFields: number;
  readonly #weights: Weights;
  /** The fields of all runs. */
  fields = 0;
  /** The fields of the present run. */
  #counted = 0;
  #isOver = false;

  /** `maxFields`: the budget of the answer. */
  constructor(maxFields: number, weights: Weights) {
    this.maxFields = maxFields;
    this.#weights = weights;
  }

  /** Whether graphql-js would take long to make the answer in one turn. Screens have far fewer fields. */
  get isLarge(): boolean {
    return this.#weights.cost > LARGE_COST;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Begins a run. The fields of an earlier run, which did not make the whole answer, do not belong to this one. */
  begin(): void {
    this.#counted = 0;
    this.count(this.#weights.ownFields);
  }

  /** Charges the items of a list. Throws if the answer exceeds its budget. */
  chargeItems(key: number, items: readonly unknown[]): void {
    const fields = this.#weights.itemFields.get(key) ?? 1;
    if (!this.count(fields * lengthOf(items))) throw OVER_BUDGET;
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

  error(): GraphQLError {
    return tooComplex('MAX_COST', this.#counted, this.maxFields);
  }
}

/** The length of a list, with the items of the lists in it. */
function lengthOf(items: readonly unknown[]): number {
  let length = items.length;
  for (const item of items) if (Array.isArray(item)) length += lengthOf(item);
  return length;
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
