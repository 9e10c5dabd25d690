import { decimal, instant, integer, numericId, readingIn } from '../../gateway/scalars.ts';
import type { Loss, ScalarShape, Shape } from '../../gateway/shape.ts';
import { isObject } from '../../lib/is-object.ts';
import { parseMoment } from '../../lib/moment-text.ts';
import { redact } from '../../lib/redact.ts';

/** The types that one field of the gateway's interface has in all rows of the answers. No value of the field is kept. */
export interface SeenField {
  /** For example `positions[].id`; empty for the answer itself. */
  readonly path: string;
  readonly expected: string;
  /** The types that were found, and how often; empty if there was no row. */
  readonly seen: Readonly<Record<string, number>>;
  /** The loss if the field is missing or null. */
  readonly missing: Loss;
  /** The loss if the field has another type. */
  readonly wrong: Loss;
}

export interface Comparison {
  readonly fields: readonly SeenField[];
  /** Properties that the interface does not name, with their types. `[…]` replaces a name that may be data. */
  readonly unknown: readonly { readonly path: string; readonly type: string }[];
  /** The numeric times, except zeros. */
  readonly times: readonly number[];
}

export const MISSING = 'missing';
export const NULL = 'null';

type Tally = { -readonly [Name in keyof SeenField]: SeenField[Name] };
type Losses = Pick<SeenField, 'missing' | 'wrong'>;

/** Compares the JSON answers to one call with its description. */
export function compare(described: Shape, answers: readonly unknown[]): Comparison {
  const tallies = new Map<string, Tally>();
  const unknown = new Map<string, string>();
  const times: number[] = [];

  // The report also has the fields of which no answer has a value.
  const addExpected = (shape: Shape, losses: Losses, path: string): void => {
    const { missing, wrong } = losses;
    tallies.set(path, { path, expected: typeName(shape), seen: {}, missing, wrong });
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
    const tally = tallies.get(path) as Tally;
    const type = typeIn(shape, value);
    tally.seen = { ...tally.seen, [type]: (tally.seen[type] ?? 0) + 1 };
    if (type !== tally.expected) return;
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
    } else if (shape.isTime) {
      const isNumeric = parseMoment(String(value)) === null;
      if (isNumeric && Number(value) !== 0) times.push(Number(value));
    }
  };

  addExpected(described, { missing: 'answer', wrong: 'answer' }, '');
  for (const answer of answers) addFound(described, answer, '');
  return {
    fields: [...tallies.values()],
    unknown: [...unknown].map(([path, type]) => ({ path, type })),
    times,
  };
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
  return shape.isWhole ? 'whole number' : shape.kind;
}

/** The type of the value. If the value fits its description, this is the name of the type in the interface. */
function typeIn(shape: Shape, value: unknown): string {
  const type = plainTypeOf(value);
  if (shape.kind === 'list' || shape.kind === 'object') return type;
  if (shape.kind === 'any') return value == null ? type : 'any';
  if (typeof value === 'string' && shape.kind === 'number') {
    return isNumberInText(shape, value) ? typeName(shape) : type;
  }
  if (type !== shape.kind) return type;
  return misfitOf(shape, value) ?? typeName(shape);
}

/** Whether the service reads the string as a number or time. */
function isNumberInText({ isWhole, isId, isTime }: ScalarShape, text: string): boolean {
  if (isTime) return instant(text, readingIn('auto')) !== null;
  if (isId) return numericId(text) !== null;
  return Number.isFinite(isWhole ? integer(text) : decimal(text));
}

/** Returns why a value of the right type is still wrong; null if it fits. */
function misfitOf(shape: ScalarShape, value: unknown): string | null {
  if (shape.kind === 'number') {
    if (!Number.isFinite(value)) return 'number too large for JSON';
    return shape.isWhole && integer(value) === null ? 'number that is not whole' : null;
  }
  if (shape.isFilled && value === '') return 'empty string';
  return shape.oneOf && !shape.oneOf.includes(value as string) ? 'another string' : null;
}

function plainTypeOf(value: unknown): string {
  if (value === undefined) return MISSING;
  if (value === null) return NULL;
  if (Array.isArray(value)) return 'list';
  return isObject(value) ? 'object' : typeof value;
}
