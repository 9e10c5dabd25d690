import { describe, expect, test } from 'vitest';
import { FORMATS, isJsonType, negotiated } from '../../../src/engine/http/formats.ts';

const PLAIN = 'application/json';
const RESPONSE = 'application/graphql-response+json';
const DEFERRED = 'multipart/mixed;deferSpec=20220824';
const EVENTS = 'text/event-stream';
const PARTS = 'multipart/mixed;subscriptionSpec="1.0"';

const TYPES = new Map([
  [FORMATS.json, PLAIN],
  [FORMATS.response, RESPONSE],
  [FORMATS.events, EVENTS],
  [FORMATS.subscriptionSpec, PARTS],
  [FORMATS.deferSpec, DEFERRED],
]);

/** The type of a single answer, followed by the form of a subscription's answer if that differs. */
function chosen(accept: string | undefined): string {
  const accepted = negotiated(accept);
  if (accepted === null) return 'none';
  const { single, events } = accepted;
  const named = TYPES.get(single) ?? '';
  if (events === null || events === single) return named;
  return `${named}, or ${events === FORMATS.events ? 'events' : 'parts'}`;
}

describe('an Accept header', () => {
  test.each([
    [undefined, `${PLAIN}, or events`],
    ['', `${PLAIN}, or events`],
    ['*/*', `${PLAIN}, or events`],
    ['application/*', PLAIN],
    ['text/*', EVENTS],
    ['image/*', 'none'],
    ['application/json;q=0', 'none'],
    ['multipart/mixed', DEFERRED],
    [`${DEFERRED}, ${PLAIN};q=0`, DEFERRED],
    ['multipart/mixed;deferSpec=20990101', 'none'],
    [`${DEFERRED}, ${PLAIN}`, PLAIN],
    [PARTS, PARTS],
    [`multipart/mixed; boundary="-"; subscriptionSpec=1.0, ${PLAIN}`, `${PLAIN}, or parts`],
    [`${PLAIN}, ${PARTS}, ${EVENTS}`, `${PLAIN}, or events`],
    [`${PLAIN}, ${PARTS}, ${EVENTS};q=0.9`, `${PLAIN}, or parts`],
    [`${PLAIN}, */*, ${PARTS};q=0.1`, `${PLAIN}, or events`],
    [`${PLAIN};q=0.5, ${PARTS}`, PARTS],
    [`${PLAIN}, ${PARTS};q=0`, PLAIN],
    // Equal weights: the newer type of JSON precedes if it is named, then JSON, then events.
    [`*/*, ${RESPONSE}`, `${RESPONSE}, or events`],
    [`application/*, ${EVENTS}`, `${PLAIN}, or events`],
    [`${PLAIN}, ${RESPONSE}`, RESPONSE],
    [`${RESPONSE}, ${PLAIN}`, RESPONSE],
    [`${EVENTS}, ${PLAIN}`, `${PLAIN}, or events`],
    // Weights.
    [`${PLAIN};q=0.9, ${RESPONSE}`, RESPONSE],
    [`${PLAIN};q=0.9, ${RESPONSE};q=0.8`, PLAIN],
    [`${EVENTS}, ${PLAIN};q=0.999`, EVENTS],
    [`*/*, ${PLAIN};q=0`, EVENTS],
    [`*/*, application/*;q=0`, EVENTS],
    [`*/*;q=0.1, ${EVENTS};q=0`, PLAIN],
    [`${PLAIN};q=0, ${PLAIN}`, PLAIN],
    // Parameters.
    [`${PLAIN}; charset=utf-8`, PLAIN],
    [`${PLAIN}; version=1`, PLAIN],
    [`x/y; a="${PLAIN}, */*"`, 'none'],
    [`x/y; a="\\"", ${PLAIN}`, PLAIN],
    // An invalid weight is ignored.
    [`${PLAIN};q=7, ${RESPONSE};q=0.5`, PLAIN],
    [`${PLAIN};q=.2, ${RESPONSE};q=0.5`, RESPONSE],
    [`${PLAIN};q, ${RESPONSE};q=0.5`, PLAIN],
    // Java's HttpURLConnection.
    ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', `${PLAIN}, or events`],
  ])('of %j selects %s', (accept, type) => {
    expect(chosen(accept)).toBe(type);
    // The second answer is memoized.
    expect(chosen(accept)).toBe(type);
  });

  // In the next two tests quadratic work would take more than the time of a test.
  test('of the maximum length is parsed in time', () => {
    for (const text of ['"', ',', ';', 'a/b;"', '"\\', 'q=', ' ']) {
      expect(chosen(`${text.repeat(16_000 / text.length)},${PLAIN}`)).toMatch(/json|none/);
    }
  });
  test.each(['a/b;', 'a/', 'a'])('with many spaces after %j is parsed in linear time', (text) => {
    expect(chosen(`${PLAIN},${text}${' '.repeat(100_000)}x`)).toMatch(/json/);
  });
  test('is read up to its hundredth element', () => {
    expect(chosen(`${`${EVENTS},`.repeat(99)}${PLAIN};q=0.9`)).toBe(
      chosen(`${EVENTS},${PLAIN};q=0.9`),
    );
    expect(chosen(`${'a/b,'.repeat(100)}${PLAIN}`)).toMatch(/none/);
  });
});

test.each([
  ...['application/json', 'Application/JSON;charset=UTF-8', 'application/json \t; x="y"'],
  'application/json;',
])('a body of the type %j is JSON', (contentType) => {
  expect(isJsonType(contentType)).toBe(true);
});

test.each([
  ...['application/jsonp', 'application/json, text/plain', 'text/plain; a=application/json'],
  ...['', undefined],
])('a body of the type %j is not JSON', (contentType) => {
  expect(isJsonType(contentType)).toBe(false);
});

test.each([
  [undefined, null],
  ['*/*', null],
  ['multipart/*', null],
  [PLAIN, null],
  [`${PLAIN}, ${DEFERRED};q=0.9`, null],
  [`${DEFERRED};q=0, ${PLAIN}`, null],
  [`${PARTS}, ${PLAIN}`, null],
  [`multipart/mixed;deferSpec=20990101, ${PLAIN}`, null],
  ['multipart/mixed', 'deferSpec'],
  [`${DEFERRED},${RESPONSE},${PLAIN};q=0.9`, 'deferSpec'],
  [`multipart/mixed; incrementalSpec="v0.2", ${PLAIN}`, 'incrementalSpec'],
  [`${DEFERRED};q=0.5, multipart/mixed;incrementalSpec=v0.2, ${PLAIN};q=0.5`, 'incrementalSpec'],
  [`${RESPONSE}, ${EVENTS}, multipart/mixed`, 'events'],
  [EVENTS, 'events'],
] as const)(
  'the Accept header %s selects the format of an answer in parts: %s',
  (accept, format) => {
    expect(negotiated(accept)?.parts ?? null).toBe(format && FORMATS[format]);
  },
);
