import { OPERATION_NAMES } from '../gateway/operations.ts';
import { isObject } from '../lib/is-object.ts';
import type { CatalogChange, CatalogHeaders } from './catalog.ts';
import { Refused, type TokenOptionsInput } from './control.ts';
import { FAULT_KINDS, type Fault } from './faults.ts';

/** A property of a request: whether a value is valid, and the message for one that is not. */
interface Property {
  readonly isValid: (value: unknown) => boolean;
  readonly allowed: string;
}

type Properties<T> = Readonly<Record<keyof T, Property>>;

const MOST = 1_000_000_000;
const count = wholeNumber(0, MOST);
const boolean: Property = { isValid: (value) => typeof value === 'boolean', allowed: 'a boolean' };
const text: Property = { isValid: (value) => typeof value === 'string', allowed: 'a text' };
const headers: Property = {
  isValid: (value) =>
    isObject(value) &&
    Object.entries(value).every(
      ([name, content]) =>
        /^[\w-]+$/.test(name) && typeof content === 'string' && /^[\t\x20-\x7e]*$/.test(content),
    ),
  allowed: 'an object of header names and texts',
};

export const FAULT: Properties<Fault> = {
  operation: oneOf([...OPERATION_NAMES, '*']),
  kind: oneOf(FAULT_KINDS),
  status: optional(wholeNumber(200, 599)),
  body: { isValid: () => true, allowed: 'any value' },
  headers: optional(headers),
  delayMs: optional(count),
  times: optional(wholeNumber(1, MOST)),
  forMs: optional(count),
  skip: optional(count),
  login: optional(count),
  apply: optional(boolean),
  shiftSeconds: optional(wholeNumber(-MOST, MOST)),
  bytes: optional(wholeNumber(0, 17_179_869_184)),
};

export const TOKEN_OPTIONS: Properties<TokenOptionsInput> = {
  email: optional(text),
  login: optional(count),
  group: optional(text),
  expiresInSeconds: optional(wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
  signature: optional(oneOf(['valid', 'forged'])),
};

export const CATALOG_CHANGE: Properties<CatalogChange & CatalogHeaders> = {
  change: optional(count),
  add: optional(wholeNumber(0, 100_000)),
  remove: optional(count),
  broken: optional(count),
  empty: optional(boolean),
  ageSeconds: optional(orNull(count)),
  cacheControl: optional(orNull(text)),
  etag: optional(boolean),
  headers: optional(headers),
};

export const REVOCATION: Properties<{ readonly token?: string; readonly login?: number }> = {
  token: optional(text),
  login: optional(count),
};

export const TICK: Properties<{ readonly times?: number }> = {
  times: optional(wholeNumber(1, 10_000)),
};

export const MARKET: Properties<{ readonly symbol: string; readonly price: number }> = {
  symbol: text,
  price: {
    isValid: (value) => typeof value === 'number' && value > 0 && value <= MOST,
    allowed: `a number above 0, of at most ${MOST}`,
  },
};

export function read<T>(properties: Properties<T>, input: unknown): T {
  if (!isObject(input)) throw new Refused('an object is required');
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name));
  const wrong = Object.entries<Property>(properties).filter(
    ([name, { isValid }]) => !isValid(input[name]),
  );
  const problems = [
    ...unknown.map((name) => `${name}: is not known`),
    ...wrong.map(([name, { allowed }]) => `${name}: must be ${allowed}`),
  ];
  if (problems.length > 0) throw new Refused(problems.join('; '));
  return input as T;
}

function wholeNumber(least: number, most: number): Property {
  return {
    isValid: (value) =>
      Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    allowed: `a whole number, ${least} to ${most}`,
  };
}

function oneOf(choices: readonly string[]): Property {
  return {
    isValid: (value) => choices.some((choice) => choice === value),
    allowed: `one of ${choices.join(', ')}`,
  };
}

function optional({ isValid, allowed }: Property): Property {
  return { isValid: (value) => value === undefined || isValid(value), allowed };
}

function orNull({ isValid, allowed }: Property): Property {
  return { isValid: (value) => value === null || isValid(value), allowed: `${allowed}, or null` };
}
