import { isObject } from '../lib/is-object.ts';
import { type Kind, secret } from './kinds.ts';

const NAME = /^[!#$%&'*+\-.^_`|~\da-z]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

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

/** A name of a header. Excludes headers that identify the client, describe one hop, or belong to the service's own features. */
const FORWARDABLE =
  /^(?!(?:accept|content|if|proxy|sec|x-forwarded)-|accept$|cookie$|forwarded$|host$|origin$|range$|user-agent$|x-request-id$|baggage$)[a-z\d][a-z\d_-]*$/;
const MAX_FORWARDED = 8;

/** Sorted, in lower case, without duplicates. */
export const forwardedHeaders: Kind<readonly string[]> = {
  parse(value) {
    const given = value.split(',').map((name) => name.trim().toLowerCase());
    const names = [...new Set(given)].toSorted();
    const isFit = names.every((name) => FORWARDABLE.test(name) && !RESERVED.has(name));
    return isFit && names.length <= MAX_FORWARDED ? names : null;
  },
  allowed: `at most ${MAX_FORWARDED} names of headers that no call has of itself, like x-tenant, x-brand`,
};

/** One name in two spellings would become two headers on the wire. */
export const fixedHeaders = secret<Readonly<Record<string, string>>>({
  parse(text) {
    const headers = Object.entries(parseObject(text) ?? { '': null }).map(
      ([name, value]) => [name.toLowerCase(), value] as const,
    );
    const isFit = headers.every(([name, value]) => isHeader(name, value) && !RESERVED.has(name));
    const isDistinct = new Set(headers.map(([name]) => name)).size === headers.length;
    return isFit && isDistinct ? (Object.fromEntries(headers) as Record<string, string>) : null;
  },
  allowed: `a JSON object of header names and texts, each name once and none of ${[...RESERVED].join(', ')}`,
});

function isHeader(name: string, value: unknown): boolean {
  return NAME.test(name) && typeof value === 'string' && VALUE.test(value);
}

function parseObject(value: string): object | null {
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
