import { isObject } from '../../lib/is-object.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { fault, shown } from './faults.ts';
import type { BackendOptions, Paths, Writes } from './kit.ts';

type Options = BackendOptions<Paths, Writes>;
type Rule = readonly [isValid: (value: unknown) => boolean, must: string];

const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const HEADER = /^[\w!#$%&'*+.^`|~-]+$/;
const MAX_BYTES = 8_388_608;
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];
const REQUIRED = ['name', 'url', 'reads'];

const COUNT: Rule = [
  (value) => Number.isInteger(value) && (value as number) > 0,
  'a whole number from 1 on',
];
const FLAG: Rule = [(value) => typeof value === 'boolean', 'true or false'];

/** The rule of each option, where it is given; types alone do not hold for a file of JavaScript. */
const RULES: Readonly<Record<keyof Options, Rule>> = {
  name: [(value) => typeof value === 'string' && NAME.test(value), 'a name of a-z, 0-9, - and _'],
  url: [
    (value) => typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
    'an address of http or https',
  ],
  timeoutMs: COUNT,
  connections: COUNT,
  maxBytes: COUNT,
  retries: FLAG,
  headers: [canBeSent, 'an object of headers that can be sent, without idempotency-key'],
  loginHeader: [isHeaderName, 'the name of a header'],
  forwardToken: FLAG,
  forward: [(value) => Array.isArray(value) && value.every(isHeaderName), 'a list of headers'],
  reads: [isObject, 'an object of paths by their names'],
  writes: [isObject, 'an object of paths, or of methods and paths, by their names'],
  judge: [(value) => typeof value === 'function', 'a function'],
};

/** Checks what an extension says of a backend, and adds the defaults. */
export function backendSettings(options: Options): BackendSettings {
  if (!isObject(options))
    throw fault(`backend(…) takes an object of options, not ${shown(options)}`);
  const { name } = options;
  const of = `of the backend ${typeof name === 'string' ? name : '(without a name)'}`;
  for (const option of new Set([...REQUIRED, ...Object.keys(options)])) {
    const rule = Object.hasOwn(RULES, option) ? RULES[option as keyof Options] : undefined;
    if (rule === undefined) {
      throw fault(`${option} ${of} is no option: these are ${Object.keys(RULES).join(', ')}`);
    }
    const value = options[option as keyof Options];
    const isLeftOut = value === undefined && !REQUIRED.includes(option);
    if (!isLeftOut && !rule[0](value)) {
      throw fault(`${option} ${of} must be ${rule[1]} (it is ${shown(value)})`);
    }
  }
  const { url, reads, writes = {}, headers = {} } = options;
  const pathOf = (given: unknown, what: string) => {
    if (typeof given === 'string' && given.startsWith('/')) return given;
    const isText = typeof given === 'string';
    throw fault(
      `${what} ${of} must be a path that begins with / (it is ${isText ? given : shown(given)})`,
    );
  };
  return {
    name,
    url,
    timeoutMs: options.timeoutMs ?? 5_000,
    connections: options.connections ?? 32,
    maxBytes: options.maxBytes ?? MAX_BYTES,
    retries: options.retries ?? true,
    headers: Object.fromEntries(new Headers(headers)),
    forwardToken: options.forwardToken ?? false,
    reads: named(name, reads, (path, each) => pathOf(path, `reads.${each}`)),
    writes: named(name, writes, (given, each) => {
      if (Object.hasOwn(reads, each)) throw fault(`${each} ${of} is a read and a write`);
      if (typeof given !== 'object' || given === null)
        return { method: 'POST', path: pathOf(given, `writes.${each}`) };
      const { method, path } = given;
      if (METHODS.includes(method)) return { method, path: pathOf(path, `writes.${each}.path`) };
      throw fault(`writes.${each}.method ${of} must be one of ${METHODS.join(', ')}`);
    }),
  };
}

function named<Given, Made>(
  name: string,
  given: Readonly<Record<string, Given>>,
  made: (value: Given, each: string) => Made,
): Readonly<Record<string, Made>> {
  const entries = Object.entries(given);
  return Object.fromEntries(entries.map(([each, value]) => [`${name}.${each}`, made(value, each)]));
}

function isHeaderName(value: unknown): boolean {
  return typeof value === 'string' && HEADER.test(value);
}

function canBeSent(value: unknown): boolean {
  if (!isObject(value)) return false;
  try {
    return !new Headers(value as Record<string, string>).has('idempotency-key');
  } catch {
    return false;
  }
}
