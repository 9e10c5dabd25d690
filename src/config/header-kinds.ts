import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isObject } from '../lib/json.ts';
import { type Kind, secret } from './kinds.ts';

// The gateway client writes these headers itself: a fixed one would break the call, or replace the user's token.
const RESERVED = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'if-none-match',
  'keep-alive',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Excludes headers that identify the client, that describe one hop, or that belong to the service's own features. */
const FORWARDABLE =
  /^(?!(?:accept|content|if|proxy|sec|x-forwarded)-|accept$|cookie$|forwarded$|host$|origin$|range$|user-agent$|x-request-id$|baggage$)[a-z\d][a-z\d_-]*$/;
const MAX_FORWARDED = 8;

/** The names are sorted, in lower case, without duplicates. */
export const forwardedHeaders: Kind<readonly string[]> = {
  parse(value) {
    const given = value.split(',').map((name) => name.trim().toLowerCase());
    const names = [...new Set(given)].toSorted();
    const isFit = names.every((name) => FORWARDABLE.test(name) && !RESERVED.has(name));
    return isFit && names.length <= MAX_FORWARDED ? names : null;
  },
  allowed: `at most ${MAX_FORWARDED} names of headers that the service never sets, like x-tenant, x-brand`,
};

/** Refuses one name in two spellings, which would become two headers on the wire. */
export const fixedHeaders = secret<Readonly<Record<string, string>>>({
  parse(text) {
    const given = headersIn(text);
    if (given === null || given.some(([name]) => RESERVED.has(name))) return null;
    const headers = Object.fromEntries(given);
    return Object.keys(headers).length === given.length ? headers : null;
  },
  allowed: `a JSON object of header names and texts, each name once and none of ${[...RESERVED].join(', ')}`,
});

function headersIn(text: string): [name: string, value: string][] | null {
  try {
    const given: unknown = JSON.parse(text);
    if (!isObject(given)) return null;
    return Object.entries(given).map(([name, value]) => {
      if (typeof value !== 'string') throw new TypeError('not a text');
      validateHeaderName(name);
      validateHeaderValue(name, value);
      return [name.toLowerCase(), value];
    });
  } catch {
    return null;
  }
}
