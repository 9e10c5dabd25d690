import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { pick, type Random } from '../../../src/sandbox/random.ts';
import { CLIENT_REQUESTS } from '../../support/client-requests.ts';
import type { RawRequest } from '../../support/raw-request.ts';

export interface Ingredients {
  readonly tokens: readonly string[];
  /** A document, and variables for it. */
  readonly document: () => { readonly text: string; readonly variables?: unknown };
}

export interface RandomRequest extends RawRequest {
  /** The query string of `/graphql`. */
  readonly search: string;
  /** True for a subscription, whose events have no end. */
  readonly isEndless: boolean;
}

type Headers = Record<string, string>;

const OTHER_METHODS = ['HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'QUERY'];
/** Parts of Accept headers. */
const MEDIA_TYPES = [
  '*/*',
  'application/json',
  'application/*',
  'application/graphql-response+json',
  'application/graphql-response+json; charset=utf-8',
  'application/json;q=0.5',
  'application/json; charset=latin1',
  'text/event-stream',
  'text/*',
  'text/plain',
  'text/html',
  'multipart/mixed',
  'image/png',
  'APPLICATION/JSON',
  '',
];
/** Whole Accept headers, most of them of real clients. */
const ACCEPT_HEADERS = [
  ...CLIENT_REQUESTS.flatMap(({ accept }) => accept ?? []),
  'application/json, */*',
  'application/json, text/plain, */*',
  'application/graphql-response+json, application/json',
  'application/graphql-response+json,application/json',
  'application/graphql-response+json;q=0.9, application/json;q=0.8, */*;q=0.1',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Text/Event-Stream;q=1.000 ,\t*/*;Q=0.',
  'application/json;charset="UT\\F-8";q=0.9,,application/*;profile="q=0, text/html"',
];
const CONTENT_TYPES = [
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'Application/JSON',
  'application/json ; x=y',
  'application/jsonp',
  'application/graphql-response+json',
  'application/graphql',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  '',
];
const ENCODINGS = ['gzip', 'br', 'deflate', 'identity', 'GZIP', 'bogus', 'gzip, br', '', 'zstd'];
const ACCEPT_ENCODINGS = ['gzip', 'br', 'gzip, br', 'br;q=0, gzip', 'identity', '*', 'x;q', ''];
const ORIGINS = ['http://localhost:3000', 'https://elsewhere.example', 'null'];

const packers: Record<string, (body: Buffer) => Buffer> = {
  gzip: gzipSync,
  GZIP: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
};

/** A random request, valid or invalid. */
export function randomRequest(random: Random, ingredients: Ingredients): RandomRequest {
  const maybe = (probability: number) => random() < probability;
  const method = randomMethod(random);
  const headers: Headers = {};
  if (maybe(0.8)) {
    headers.authorization = `Bearer ${pick(random, ingredients.tokens)}`;
  } else if (maybe(0.5)) {
    headers.authorization = pick(random, ['Bearer', 'bearer x y', 'Basic a', '']);
  }
  if (maybe(0.8)) headers.accept = randomAccept(random);
  if (maybe(0.4)) headers['accept-encoding'] = pick(random, ACCEPT_ENCODINGS);
  if (maybe(0.15)) headers.origin = pick(random, ORIGINS);
  if (maybe(0.1)) headers['x-request-id'] = pick(random, ['screen-1', 'not allowed', 'ä']);
  if (maybe(method === 'GET' ? 0.4 : 0.1))
    headers['if-none-match'] = pick(random, ['*', 'W/"x"', '"x", W/"y"', '']);
  const hasBody = method === 'POST' || (method !== 'GET' && method !== 'HEAD' && maybe(0.5));
  const hasSearch = method !== 'POST' || maybe(0.05);
  const search = hasSearch ? randomQueryString(random, ingredients) : '';
  const common = { method, headers, search };
  if (!hasBody) return { ...common, isEndless: isSubscription(search) };
  const type = maybe(0.85) ? 'application/json' : pick(random, CONTENT_TYPES);
  if (maybe(0.98)) headers['content-type'] = type;
  const body = randomBody(random, ingredients);
  const isEndless = isSubscription(search) || isSubscription(body);
  if (maybe(0.8)) return { ...common, body, isEndless };
  const encoding = pick(random, ENCODINGS);
  headers['content-encoding'] = encoding;
  // Sometimes the body is not in its Content-Encoding, or lacks its last three bytes.
  const encoded = maybe(0.8) ? (packers[encoding]?.(body) ?? body) : body;
  const sent = maybe(0.05) ? encoded.subarray(0, -3) : encoded;
  return { ...common, body: sent, isEndless };
}

function randomMethod(random: Random): string {
  if (random() < 0.65) return 'POST';
  return random() < 0.85 ? 'GET' : pick(random, OTHER_METHODS);
}

function isSubscription(text: string | Buffer): boolean {
  return text.includes('subscription');
}

function randomAccept(random: Random): string {
  if (random() < 0.6) return pick(random, ACCEPT_HEADERS);
  const count = random() < 0.6 ? 1 : 1 + Math.floor(random() * 4);
  const types = Array.from({ length: count }, () => pick(random, MEDIA_TYPES));
  return types.join(pick(random, [', ', ',', ' , ']));
}

function randomParameters(random: Random, { document }: Ingredients): Record<string, unknown> {
  const maybe = (probability: number) => random() < probability;
  const { text, variables } = document();
  const params: Record<string, unknown> = { query: text };
  if (variables !== undefined || maybe(0.1)) params.variables = variables;
  if (maybe(0.06)) params.variables = pick<unknown>(random, [null, {}, [], 'x', 1, { unknown: 1 }]);
  if (maybe(0.1))
    params.operationName = pick<unknown>(random, ['Named', 'A', 'B', '', null, 1, {}]);
  if (maybe(0.05)) params.extensions = pick<unknown>(random, [null, {}, { a: 1 }, [], 'x']);
  if (maybe(0.03)) {
    params.extensions = { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } };
  }
  if (maybe(0.03)) params.documentId = pick<unknown>(random, ['', 'abc', 7, null, 'x'.repeat(600)]);
  if (maybe(0.05))
    params.query = pick<unknown>(random, [undefined, null, '', ' ', 1, ['{ a }'], {}]);
  if (maybe(0.05)) params[pick(random, ['unknown', 'id', 'doc_id', 'map', '0'])] = 'x';
  return params;
}

/** The parameters as JSON, and sometimes broken JSON or something else. */
function randomBody(random: Random, ingredients: Ingredients): Buffer {
  const json = JSON.stringify(randomParameters(random, ingredients));
  if (random() < 0.8) return Buffer.from(json);
  const make = pick<() => string | Buffer>(random, [
    () => '',
    () => ' ',
    () => `\ufeff${json}`,
    () => `\n\t ${json}\r\n `,
    () => `${json}x`,
    () => json.slice(0, -1),
    () => `[${json}]`,
    () => `[${json},${json}]`,
    () => json.replace('{', '{"query":"{ other }",'),
    () => json.replace(/}$/, ',"query":"{ __typename }"}'),
    () => json.replace('{', '{"__proto__":{"query":"{ a }"},"constructor":1,'),
    () => json.replaceAll('"', "'"),
    () => json.replace('query', '\\u0071uery'),
    () => json.replace('{ ', '{ \\ud800 '),
    () => json.replace('{ ', '{ # \ufeff\u2028\\n '),
    // Two bytes that are not UTF-8, before the end.
    () =>
      Buffer.concat([Buffer.from(json.slice(0, -2)), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]),
    () => Buffer.from(json, 'utf16le'),
    () => 'null',
    () => '"text"',
    () => '1e999',
    () => '[]',
    () => '{}',
    () => `{"query":"{ ${'a'.repeat(300_000)} }"}`,
    () => `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    () => `{"query":"{ __typename }","variables":${'{"a":'.repeat(900)}1${'}'.repeat(900)}}`,
  ]);
  return Buffer.from(make());
}

function randomQueryString(random: Random, ingredients: Ingredients): string {
  if (random() < 0.04)
    return pick(random, ['', '?', '??', '?query', '?query=%', '?query=%zz&a=%ff']);
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(randomParameters(random, ingredients))) {
    if (value === undefined) continue;
    search.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    if (random() < 0.02) search.append(name, '{ __typename }');
  }
  if (random() < 0.03) search.set('variables', pick(random, ['{', '[1]', '"x"', 'null', ' {} ']));
  const text = search.toString();
  const encoded = random() < 0.2 ? text.replaceAll('+', '%20') : text;
  const fragment = random() < 0.03 ? '#x' : '';
  return `?${encoded}${fragment}`;
}
