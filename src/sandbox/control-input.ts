import { OPERATION_NAMES } from '../gateway/operations.ts';
import { isObject } from '../lib/json.ts';
import { FAULT_KINDS, type Fault } from './faults.ts';

/** The error of an invalid control request. The message says why the request is invalid. */
export class Refused extends Error {}

/** A property of a request: whether a value is valid, and the message for one that is not. */
interface Property {
  readonly isValid: (value: unknown) => boolean;
  readonly allowed: string;
}

type Properties<T> = Readonly<Record<keyof T, Property>>;

const HEADER_NAME = /^[\w-]+$/;
const PRINTABLE_ASCII = /^[\t\x20-\x7e]*$/;
const MAX = 1_000_000_000;
const count = wholeNumber(0, MAX);

export const FAULT: Properties<Fault> = {
  operation: oneOf([...OPERATION_NAMES, '*']),
  kind: oneOf(FAULT_KINDS),
  status: optional(wholeNumber(200, 599)),
  body: { isValid: () => true, allowed: 'any value' },
  headers: optional({ isValid: isHeaders, allowed: 'an object of header names and texts' }),
  delayMs: optional(count),
  times: optional(wholeNumber(1, MAX)),
  forMs: optional(count),
  login: optional(count),
};

export const PRICE: Properties<{ readonly symbol: string; readonly price: number }> = {
  symbol: { isValid: (value) => typeof value === 'string', allowed: 'a text' },
  price: {
    isValid: (value) => typeof value === 'number' && value > 0 && value <= MAX,
    allowed: `a number above 0, of at most ${MAX}`,
  },
};

export const TOKEN: Properties<{ readonly email: string; readonly expiresInSeconds?: number }> = {
  email: { isValid: (value) => typeof value === 'string', allowed: 'a text' },
  expiresInSeconds: optional(count),
};

/** Returns the request's body, or throws `Refused` with all its problems. */
export function read<T>(properties: Properties<T>, body: unknown): T {
  if (!isObject(body)) throw new Refused('A JSON object is required.');
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(properties, name));
  const wrong = Object.entries<Property>(properties).filter(
    ([name, { isValid }]) => !isValid(body[name]),
  );
  const problems = [
    ...unknown.map((name) => `${name}: is not known`),
    ...wrong.map(([name, { allowed }]) => `${name}: must be ${allowed}`),
  ];
  if (problems.length > 0) throw new Refused(problems.join('; '));
  return body as T;
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

function isHeaders(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(
    ([name, content]) => HEADER_NAME.test(name) && isHeaderValue(content),
  );
}

function isHeaderValue(content: unknown): boolean {
  return typeof content === 'string' && PRINTABLE_ASCII.test(content);
}
