import type { FieldShape, Loss, ScalarShape, Shape } from '../../gateway/shape.ts';
import {
  decimal,
  instant,
  integer,
  isRow,
  numericId,
  readingIn,
} from '../../gateway/wire/scalars.ts';
import { parseMoment } from '../../lib/moment-text.ts';
import { redact } from '../../lib/redact.ts';

/** How one field of the interface was found in an answer, over all its rows; never a value of it. */
export interface SeenField {
  /** `positions[].id`; empty for the answer itself. */
  readonly path: string;
  readonly expected: string;
  /** The types that were found, and how often; empty where there was no row to look at. */
  readonly seen: Readonly<Record<string, number>>;
  /** The worst that any of them costs the service. */
  readonly loss: Loss;
  /** False where the field is missing, or null, at most. */
  readonly isWrong: boolean;
}

export interface Comparison {
  readonly fields: readonly SeenField[];
  /** Properties that the interface does not name, with their types; `[…]` for names that may be data. */
  readonly unknown: readonly { readonly path: string; readonly type: string }[];
  readonly times: TimeCounts;
}

/** How many numeric times there are by the unit that makes sense of them. */
export type TimeCounts = Readonly<Record<TimeMeaning, number>>;

export type TimeMeaning = 's' | 'ms' | 'us' | 'zero' | 'none';

const LOSSES: readonly Loss[] = ['nothing', 'value', 'row', 'answer'];
const MISSING = 'missing';
const ANOTHER_WORD = 'another string';

type Tally = { -readonly [Name in keyof SeenField]: SeenField[Name] };

/** Compares a JSON value with its description. */
export function compare(described: Shape, answer: unknown, nowMs: number): Comparison {
  const tallies = new Map<string, Tally>();
  const unknown = new Map<string, string>();
  const times = { s: 0, ms: 0, us: 0, zero: 0, none: 0 };

  // The fields of lists without a row are listed too, with nothing seen.
  const list = (shape: Shape, path: string): void => {
    const nothing = { path, seen: {}, loss: 'nothing', isWrong: false } as const;
    tallies.set(path, { ...nothing, expected: nameOf(shape) });
    if (shape.kind === 'list') list(shape.of, `${path}[]`);
    if (shape.kind === 'object')
      for (const [name, field] of Object.entries(shape.fields))
        list(field.shape, below(path, name));
  };

  const enter = ({ shape, missing, wrong }: FieldShape, value: unknown, path: string): void => {
    const tally = tallies.get(path) as Tally;
    const type = typeIn(shape, value);
    tally.seen = { ...tally.seen, [type]: (tally.seen[type] ?? 0) + 1 };
    const isMissing = type === MISSING || type === 'null';
    if (isMissing || type !== nameOf(shape)) {
      // A word that an enum lacks is null, and costs no more than itself.
      const lossOfWrong = type === ANOTHER_WORD ? 'value' : wrong;
      tally.loss = worse(tally.loss, isMissing ? missing : lossOfWrong);
      tally.isWrong ||= !isMissing;
    } else if (shape.kind === 'list') {
      const entry = { shape: shape.of, missing: shape.wrong, wrong: shape.wrong };
      for (const one of value as readonly unknown[]) enter(entry, one, `${path}[]`);
    } else if (shape.kind === 'object') {
      const row = value as Readonly<Record<string, unknown>>;
      for (const [name, field] of Object.entries(shape.fields))
        enter(field, Object.hasOwn(row, name) ? row[name] : undefined, below(path, name));
      for (const [name, one] of Object.entries(row))
        if (!Object.hasOwn(shape.fields, name))
          unknown.set(below(path, shownName(name)), plainTypeOf(one));
    } else if (shape.isTime && parseMoment(String(value)) === null) {
      times[meaningOf(Number(value), nowMs)] += 1;
    }
  };

  list(described, '');
  enter({ shape: described, missing: 'answer', wrong: 'answer' }, answer, '');
  return {
    fields: [...tallies.values()],
    unknown: [...unknown].map(([path, type]) => ({ path, type })),
    times,
  };
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function worse(one: Loss, other: Loss): Loss {
  return LOSSES.indexOf(one) > LOSSES.indexOf(other) ? one : other;
}

const PLAIN_NAME = /^[a-z_$][\w$-]{0,39}$/i;

/** An object may be keyed by data, such as logins or e-mails, which are no names of properties. */
function shownName(name: string): string {
  return PLAIN_NAME.test(name) && redact(name) === name ? name : '[…]';
}

/** The name of the type in the interface's description. */
function nameOf(shape: Shape): string {
  if (shape.kind === 'list' || shape.kind === 'object') return shape.kind;
  if (shape.oneOf) return `one of ${shape.oneOf.join(', ')}`;
  return shape.isWhole ? 'whole number' : shape.kind;
}

/** The type of the value; where it fits its description, in the words of that. */
function typeIn(shape: Shape, value: unknown): string {
  const type = plainTypeOf(value);
  if (typeof value === 'string' && shape.kind === 'number') {
    return isNumberInText(shape, value) ? nameOf(shape) : type;
  }
  if (shape.kind === 'list' || shape.kind === 'object' || type !== shape.kind) return type;
  return scalarFits(shape, value) ?? nameOf(shape);
}

/** Whether the text is read as the number, or time, that it stands for. */
function isNumberInText({ isWhole, isId, isTime }: ScalarShape, text: string): boolean {
  const reading = readingIn('auto');
  if (isTime) return instant(text, reading) !== null;
  if (isId) return numericId(text) !== null;
  return Number.isFinite(isWhole ? integer(text) : decimal(text));
}

/** Names what is wrong with a value of the right type, or returns null. */
function scalarFits(shape: ScalarShape, value: unknown): string | null {
  if (shape.kind === 'number') {
    if (!Number.isFinite(value)) return 'number too large for JSON';
    return shape.isWhole && integer(value) === null ? 'number that is not whole' : null;
  }
  if (shape.isFilled && value === '') return 'empty string';
  return shape.oneOf && !shape.oneOf.includes(value as string) ? ANOTHER_WORD : null;
}

function plainTypeOf(value: unknown): string {
  if (value === undefined) return MISSING;
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return isRow(value) ? 'object' : typeof value;
}

const YEAR_2000_SECONDS = 946_684_800;
const DAY_SECONDS = 86_400;

/** The unit in which a time lies between the year 2000 and tomorrow: the ranges do not overlap. */
function meaningOf(value: number, nowMs: number): TimeMeaning {
  if (value === 0) return 'zero';
  const tomorrow = nowMs / 1_000 + DAY_SECONDS;
  const fits = (perSecond: number) =>
    value >= YEAR_2000_SECONDS * perSecond && value <= tomorrow * perSecond;
  if (fits(1)) return 's';
  if (fits(1_000)) return 'ms';
  return fits(1_000_000) ? 'us' : 'none';
}
