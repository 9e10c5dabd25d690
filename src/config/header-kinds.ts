import { type Kind, listOf, secret } from './kinds.ts';

const NAME = /^[!#$%&'*+\-.^_`|~\da-z]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

// The gateway client writes these itself: a fixed one would break the call, or replace the user's token.
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
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Excludes headers that identify the client, describe one hop, or belong to the service's own features. */
const FORWARDABLE =
  /^(?!(?:accept|content|if|proxy|sec|x-forwarded)-|accept$|cookie$|forwarded$|host$|origin$|range$|user-agent$|x-request-id$|traceparent$|tracestate$|baggage$)/;
const MAX_FORWARDED = 8;

const headerNames = listOf((item) => /^[a-z\d][a-z\d_-]*$/i.test(item), '');

/** Sorted, in lower case, without doubles. */
export const forwardedHeaders: Kind<readonly string[]> = {
  parse(value) {
    const given = headerNames.parse(value)?.map((name) => name.toLowerCase());
    const names = [...new Set(given)].toSorted();
    const isFit = names.every((name) => FORWARDABLE.test(name) && !RESERVED.has(name));
    return given && isFit && names.length <= MAX_FORWARDED ? names : null;
  },
  allowed: `at most ${MAX_FORWARDED} names of headers that no call has of itself, like x-tenant, x-brand`,
};

/** Problems name the header and never its value: the values are secrets. */
export const fixedHeaders = secret<Readonly<Record<string, string>>>({
  parse(text) {
    const { headers, problems } = readHeaders(text);
    return problems.length === 0 ? Object.fromEntries(headers) : null;
  },
  allowed: 'a JSON object of header names and texts',
  problems: (text) => readHeaders(text).problems,
});

function readHeaders(text: string) {
  const headers = new Map<string, string>();
  const problems: string[] = [];
  for (const [name, content] of Object.entries(parseObject(text) ?? { '': null })) {
    const key = name.toLowerCase();
    if (!NAME.test(key)) problems.push('not an object of legal header names');
    else if (RESERVED.has(key)) problems.push(`${key} is set by the program itself`);
    else if (headers.has(key)) problems.push(`${key} is there twice`);
    else if (typeof content !== 'string' || !VALUE.test(content)) {
      problems.push(`${key} is not a legal text`);
    }
    headers.set(key, String(content));
  }
  return { headers, problems };
}

function parseObject(value: string): object | null {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
