import {
  decimal,
  instant,
  integer,
  numericId,
  readingIn,
  type TimeUnit,
} from '../gateway/scalars.ts';
import type { Loss, ScalarShape, Shape } from '../gateway/shape.ts';
import { isObject } from '../lib/json.ts';
import { redact } from '../lib/redact.ts';

/** The types that one field of the gateway's interface has in all rows of the answers. No value of the field is kept. */
export interface SeenField {
  /** For example `positions[].id`; empty for the answer itself. */
  readonly path: string;
  readonly expected: string;
  /** The types that were found, and how often; empty if there was no row. */
  readonly seen: Map<string, number>;
  /** The loss if the field is missing or null. */
  readonly missing: Loss;
  /** The loss if the field has another type. */
  readonly wrong: Loss;
}

export interface Comparison {
  readonly fields: readonly SeenField[];
  /** Properties that the interface does not name, with their types. `[…]` replaces a name that may be data. */
  readonly unknown: ReadonlyMap<string, string>;
}

export const MISSING = 'missing';
export const NULL = 'null';

/** Compares the JSON answers to one call with its description. */
export function compare(
  described: Shape,
  answers: readonly unknown[],
  unit: TimeUnit = 'auto',
): Comparison {
  const fields = new Map<string, SeenField>();
  const unknown = new Map<string, string>();

  // The report also has the fields of which no answer has a value.
  const addExpected = (shape: Shape, { missing, wrong }: Losses, path: string): void => {
    fields.set(path, { path, expected: typeName(shape), seen: new Map(), missing, wrong });
    if (shape.kind === 'list') {
      addExpected(shape.of, { missing: shape.wrong, wrong: shape.wrong }, `${path}[]`);
    } else if (shape.kind === 'object') {
      for (const [name, field] of Object.entries(shape.fields)) {
        addExpected(field.shape, field, below(path, name));
      }
    }
  };

  const addFound = (shape: Shape, value: unknown, path: string): void => {
    // `addExpected` has added every path of the shape.
    const { expected, seen } = fields.get(path) as SeenField;
    const type = typeIn(shape, value, unit);
    seen.set(type, (seen.get(type) ?? 0) + 1);
    if (type !== expected) return;
    if (shape.kind === 'list') {
      for (const entry of value as readonly unknown[]) addFound(shape.of, entry, `${path}[]`);
    } else if (shape.kind === 'object') {
      const row = value as Readonly<Record<string, unknown>>;
      for (const [name, field] of Object.entries(shape.fields)) {
        addFound(field.shape, Object.hasOwn(row, name) ? row[name] : undefined, below(path, name));
      }
      for (const [name, property] of Object.entries(row)) {
        if (Object.hasOwn(shape.fields, name)) continue;
        unknown.set(below(path, shownName(name)), plainTypeOf(property));
      }
    }
  };

  addExpected(described, { missing: 'answer', wrong: 'answer' }, '');
  for (const answer of answers) addFound(described, answer, '');
  return { fields: [...fields.values()], unknown };
}

type Losses = Pick<SeenField, 'missing' | 'wrong'>;

/** Whether each value has the expected type. An optional field may also be missing or null. */
export function isAsDescribed({ seen, expected, missing }: SeenField): boolean {
  const others = [...seen.keys()].filter((type) => type !== expected);
  return others.every((type) => missing === 'nothing' && isAbsence(type));
}

export function isAbsence(type: string): boolean {
  return type === MISSING || type === NULL;
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

const PLAIN_NAME = /^[a-z_$][\w$-]{0,39}$/i;

/** Hides a key that may be data: an object may be keyed by logins or e-mails. */
function shownName(name: string): string {
  return PLAIN_NAME.test(name) && redact(name) === name ? name : '[…]';
}

/** The name of the type in the interface's description. */
function typeName(shape: Shape): string {
  if (shape.kind === 'list' || shape.kind === 'object') return shape.kind;
  if (shape.oneOf) return `one of ${shape.oneOf.join(', ')}`;
  if (shape.isTime) return 'time';
  return shape.isWhole ? 'whole number' : shape.kind;
}

/** The type of the value. If the service can read the value, this is the name of the type in the interface. */
function typeIn(shape: Shape, value: unknown, unit: TimeUnit): string {
  const type = plainTypeOf(value);
  const isNested = shape.kind === 'list' || shape.kind === 'object';
  if (isNested || isAbsence(type)) return type;
  if (isReadable(shape, value, unit)) return typeName(shape);
  return type === shape.kind ? `another ${type}` : type;
}

function isReadable(shape: ScalarShape, value: unknown, unit: TimeUnit): boolean {
  const { kind, isTime, isId, isWhole, isFilled, oneOf } = shape;
  if (kind === 'any') return true;
  if (kind === 'number') {
    if (isTime) return isPlausibleTime(value, unit);
    if (isId) return numericId(value) !== null;
    if (isWhole) return integer(value) !== null;
    return Number.isFinite(typeof value === 'string' ? decimal(value) : value);
  }
  if (typeof value !== kind || (isFilled && value === '')) return false;
  return oneOf === undefined || oneOf.includes(value as string);
}

const YEAR_2000_MS = Date.UTC(2000);
const YEAR_2100_MS = Date.UTC(2100);

/** False for a time that another unit would make plausible. Zero stands for no time. */
function isPlausibleTime(value: unknown, unit: TimeUnit): boolean {
  const ms = instant(value, readingIn(unit));
  if (ms === null) return Number(value) === 0;
  return ms >= YEAR_2000_MS && ms < YEAR_2100_MS;
}

function plainTypeOf(value: unknown): string {
  if (value === undefined) return MISSING;
  if (value === null) return NULL;
  if (Array.isArray(value)) return 'list';
  return isObject(value) ? 'object' : typeof value;
}
