import { integer, isRow, number } from '../../gateway/wire/scalars.ts';
import type { Loss, ScalarShape, Shape } from '../../gateway/wire/shape.ts';
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

/** Compares a JSON value with its description. */
export function compare(shape: Shape, value: unknown, nowMs: number): Comparison {
  const comparing = new Comparing(nowMs);
  comparing.enter(shape, value, { path: '', missing: 'answer', wrong: 'answer' });
  return comparing.result();
}

interface Place {
  readonly path: string;
  readonly missing: Loss;
  readonly wrong: Loss;
}

interface Tally {
  readonly expected: string;
  readonly seen: Map<string, number>;
  loss: Loss;
  isWrong: boolean;
}

const LOSSES: readonly Loss[] = ['nothing', 'value', 'row', 'answer'];
const MISSING = 'missing';
const ANOTHER_WORD = 'another string';

class Comparing {
  readonly #nowMs: number;
  readonly #tallies = new Map<string, Tally>();
  readonly #unknown = new Map<string, string>();
  readonly #times: Record<TimeMeaning, number> = { s: 0, ms: 0, us: 0, zero: 0, none: 0 };

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  enter(shape: Shape, value: unknown, { path, missing, wrong }: Place): void {
    const tally = this.#tally(path, shape);
    const type = typeIn(shape, value);
    tally.seen.set(type, (tally.seen.get(type) ?? 0) + 1);
    const isMissing = type === MISSING || type === 'null';
    const fits = !isMissing && type === nameOf(shape);
    if (!fits) {
      // A word that an enum lacks is null, and costs no more than itself.
      const lossOfWrong = type === ANOTHER_WORD ? 'value' : wrong;
      tally.loss = worse(tally.loss, isMissing ? missing : lossOfWrong);
      if (!isMissing) tally.isWrong = true;
      return;
    }
    if (shape.kind === 'list') {
      const place = { path: `${path}[]`, missing: shape.wrong, wrong: shape.wrong };
      for (const entry of value as readonly unknown[]) this.enter(shape.of, entry, place);
    } else if (shape.kind === 'object') {
      this.#enterObject(shape.fields, value as Readonly<Record<string, unknown>>, path);
    } else if (shape.isTime) {
      this.#times[meaningOf(value as number, this.#nowMs)] += 1;
    }
  }

  result(): Comparison {
    return {
      fields: [...this.#tallies].map(([path, { seen, ...tally }]) => ({
        path,
        ...tally,
        seen: Object.fromEntries(seen),
      })),
      unknown: [...this.#unknown].map(([path, type]) => ({ path, type })),
      times: this.#times,
    };
  }

  #enterObject(
    fields: Extract<Shape, { kind: 'object' }>['fields'],
    row: Readonly<Record<string, unknown>>,
    path: string,
  ): void {
    const prefix = path === '' ? '' : `${path}.`;
    for (const [name, { shape, missing, wrong }] of Object.entries(fields)) {
      const value = Object.hasOwn(row, name) ? row[name] : undefined;
      this.enter(shape, value, { path: prefix + name, missing, wrong });
    }
    for (const name of Object.keys(row)) {
      if (Object.hasOwn(fields, name)) continue;
      this.#unknown.set(prefix + shownName(name), plainTypeOf(row[name]));
    }
  }

  /** The fields of lists without a row are listed too, with nothing seen. */
  #tally(path: string, shape: Shape): Tally {
    const known = this.#tallies.get(path);
    if (known) return known;
    const tally: Tally = {
      expected: nameOf(shape),
      seen: new Map(),
      loss: 'nothing',
      isWrong: false,
    };
    this.#tallies.set(path, tally);
    if (shape.kind === 'list') this.#tally(`${path}[]`, shape.of);
    if (shape.kind === 'object') {
      for (const [name, field] of Object.entries(shape.fields)) {
        this.#tally(path === '' ? name : `${path}.${name}`, field.shape);
      }
    }
    return tally;
  }
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
  if (shape.kind === 'list' || shape.kind === 'object' || type !== shape.kind) return type;
  return scalarFits(shape, value) ?? nameOf(shape);
}

/** Names what is wrong with a value of the right type, or returns null. */
function scalarFits(shape: ScalarShape, value: unknown): string | null {
  if (shape.kind === 'number') {
    if (number(value) === null) return 'number too large for JSON';
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
