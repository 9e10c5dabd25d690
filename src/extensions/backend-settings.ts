import { BASE_URL, readBaseUrl } from '../../lib/base-url.ts';
import { isObject } from '../../lib/is-object.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { READ } from '../gateway/operations.ts';
import { fault, shown } from './faults.ts';
import type { BackendOptions, Paths, Writes } from './kit.ts';
import {
  COUNT,
  checkOptions,
  FLAG,
  FUNCTION,
  LIST_OF_TEXTS,
  MILLISECONDS,
  type Rules,
  required,
} from './option-rules.ts';

type Options = BackendOptions<Paths, Writes>;

const NAME = /^[a-z][a-z0-9_-]{0,31}$/;
const HEADER = /^[\w!#$%&'*+.^`|~-]+$/;
/** The client writes these itself, or they are about one hop. */
const WRITTEN_HERE =
  /^(?:connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;
const MAX_BYTES = 8_388_608;
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'];
export const POLLS_PER_SECOND = 100;

const RULES: Rules<keyof Options> = {
  name: required([
    (value) => typeof value === 'string' && NAME.test(value),
    'a name of a-z, 0-9, - and _',
  ]),
  url: required([(value) => typeof value === 'string' && readBaseUrl(value) !== null, BASE_URL]),
  timeoutMs: MILLISECONDS,
  connections: COUNT,
  maxBytes: COUNT,
  pollsPerSecond: COUNT,
  retries: FLAG,
  headers: [canBeSent, 'an object of headers that can be sent, without idempotency-key'],
  loginHeader: [
    (value) => isHeaderName(value) && !/^idempotency-key$/i.test(String(value)),
    'the name of a header that no call has of itself',
  ],
  forwardToken: FLAG,
  forward: [
    (value) => Array.isArray(value) && value.every(isHeaderName),
    'a list of headers that no call has of itself',
  ],
  reads: required([isObject, 'an object of paths by their names']),
  writes: [isObject, 'an object of paths, or of methods and paths, by their names'],
  judge: FUNCTION,
};

/** Checks what an extension says of a backend, and adds the defaults. */
export function backendSettings(options: Options): BackendSettings {
  const of = checkOptions('backend', 'the backend', RULES, options);
  const { name, url, reads, writes = {}, headers = {}, forwardToken = false } = options;
  const { loginHeader, forward = [] } = options;
  const fixed = Object.fromEntries(new Headers(headers));
  const ofCalls = [loginHeader, forwardToken && 'authorization', ...forward];
  const twice = ofCalls.find((each) => each && Object.hasOwn(fixed, each.toLowerCase()));
  if (twice !== undefined) throw fault(`headers ${of} have ${twice} already`);
  const pathOf = (given: unknown, what: string) => {
    if (typeof given === 'string' && /^\/[^?#]*$/.test(given)) return given;
    const value = typeof given === 'string' ? given : shown(given);
    throw fault(`${what} ${of} must be a path that begins with /, without query (it is ${value})`);
  };
  const read = {
    ...READ,
    backend: name,
    area: name,
    proves: 'nothing',
    mayHaveAged: true,
    isAnonymous: !forwardToken,
    refreshes: [],
  } as const;
  const write = { ...read, verb: 'POST', effect: 'write', isIdempotent: false } as const;
  return {
    name,
    url,
    timeoutMs: options.timeoutMs ?? 5_000,
    connections: options.connections ?? 32,
    maxBytes: options.maxBytes ?? MAX_BYTES,
    pollsPerSecond: options.pollsPerSecond ?? POLLS_PER_SECOND,
    retries: options.retries ?? true,
    headers: fixed,
    forwardToken,
    viewerHeader: loginHeader ?? (forwardToken ? 'authorization' : (forward[0] ?? null)),
    operations: {
      ...named(name, reads, (path, each) => ({
        ...read,
        path: pathOf(path, `reads.${each}`),
      })),
      ...named(name, writes, (given, each) => {
        if (Object.hasOwn(reads, each)) throw fault(`${each} ${of} is a read and a write`);
        if (typeof given !== 'object' || given === null)
          return { ...write, path: pathOf(given, `writes.${each}`) };
        const { method: verb = 'POST', path, refreshes = [] } = given;
        if (!METHODS.includes(verb)) {
          throw fault(`writes.${each}.method ${of} must be one of ${METHODS.join(', ')}`);
        }
        if (!LIST_OF_TEXTS[0](refreshes)) {
          throw fault(`writes.${each}.refreshes ${of} must be a list of names of live lists`);
        }
        return { ...write, verb, path: pathOf(path, `writes.${each}.path`), refreshes };
      }),
    },
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
  return typeof value === 'string' && HEADER.test(value) && !WRITTEN_HERE.test(value);
}

function canBeSent(value: unknown): boolean {
  if (!isObject(value)) return false;
  try {
    return !new Headers(value as Record<string, string>).has('idempotency-key');
  } catch {
    return false;
  }
}
