import { expect, test } from 'vitest';
import { errorBody, TOKEN_HEADER, tokenIn } from '../../../src/gateway/operations/conventions.ts';
import { INSTRUMENT } from '../../../src/gateway/operations/get-all-tickers.ts';
import { OPEN_POSITIONS } from '../../../src/gateway/operations/get-open-positions.ts';
import { SESSION } from '../../../src/gateway/operations/get-session.ts';
import { POSITION } from '../../../src/gateway/operations/holdings.ts';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { Routes } from '../../../src/sandbox/routes.ts';
import { instrumentWith, positionWith, sessionWith } from '../../gateway/wire/rows.ts';
import { OPERATION_CASES } from '../../operations/cases.ts';
import {
  answer,
  type ScriptedRequest,
  startScriptedGateway,
} from '../../support/scripted-gateway.ts';
import { inSeconds, signedToken } from '../../support/tokens.ts';
import { check, type Variables } from './run-check.ts';

type Answers = (operation: OperationName | undefined, request: ScriptedRequest) => Buffer;

/** Runs the check against a gateway with these answers, and returns what it prints, without times, counts and wire names. */
async function printed(answers: Answers, claims: object, more: Variables = {}): Promise<string> {
  const routes = new Routes('mobile-wallet');
  await using gateway = await startScriptedGateway((socket, request) => {
    const operation = routes.find(request.method, request.path.split('?')[0] ?? '')?.operation;
    socket.write(answers(operation, request));
  });
  const token = signedToken({ claims: { ...claims, exp: inSeconds(60) }, secret: SECRET });
  const { text } = await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN: token, ...more });
  return text
    .replace(gateway.url, 'http://gateway')
    .replaceAll(/GET \S+ +/g, '')
    .replaceAll(/ +\d+ ms( +(?=\S))?/g, '  ')
    .replaceAll(/ +\d+ of \d+ fields/g, '  fields')
    .replaceAll(`${OPEN_POSITIONS.names.positions}[]`, 'positions[]')
    .replaceAll(`lacks ${POSITION.names.priceOpen};`, 'lacks priceOpen;')
    .replaceAll(`op 10: ${SESSION.names.createdAt}:`, 'op 10: createdAt:')
    .replaceAll(`[].${INSTRUMENT.names.digits}:`, '[].digits:')
    .replaceAll(`the ${INSTRUMENT.names.id} of`, 'the id of')
    .replaceAll(/ +$/gm, '');
}

const SECRET = 'the secret of a gateway, 32 bytes';
const ORDINARY = { login: 700001, group: 'standard-usd' };

const answerOf = (operation: OperationName | undefined) =>
  operation === undefined ? {} : OPERATION_CASES[operation].answer;

/** Verifies the signature as a real gateway does. */
function isVerified({ headers }: ScriptedRequest): boolean {
  const token = tokenIn(headers[TOKEN_HEADER]) ?? '';
  const claims = token.split('.')[1];
  if (claims === undefined) return false;
  const payload = JSON.parse(Buffer.from(claims, 'base64url').toString());
  return signedToken({ claims: payload, secret: SECRET }) === token;
}

const UNAUTHORIZED = answer(401, errorBody('details', { error: 'UNAUTHORIZED' }));

test('a web server in place of the gateway', async () => {
  const page = answer(404, '<!doctype html>', { 'content-type': 'text/html' });
  expect(await printed(() => page, ORDINARY)).toMatchInlineSnapshot(`
    "Configuration  fine
    Gateway        http://gateway
      op 12  404  without a token

    Problems
      - GATEWAY_URL  op 12: Status 404, text/html.

    1 problem."
  `);
});

/** Renamed claims and fields, times in seconds, one page of positions, no caching headers. */
const otherNames: Answers = (operation, request) => {
  if (!isVerified(request)) return UNAUTHORIZED;
  const renamed = { ...positionWith({ priceOpen: undefined }), open_price: 190.25 };
  const positions = OPEN_POSITIONS.toWire({ positions: [renamed] });
  const empty = { createdAt: 1_700_000_000, positions: [], orders: null };
  if (operation === 'getSession') return answer(200, sessionWith(empty));
  if (operation === 'getOpenPositions') return answer(200, { ...positions, total: 7 });
  if (operation !== 'getAllTickers') return answer(200, answerOf(operation));
  return answer(200, [instrumentWith({}), instrumentWith({ digits: undefined })]);
};

test('a gateway with other names and units', async () => {
  const claims = { sub: 'u-5', mt5_account: 700001, tier: 'standard-usd' };
  const milliseconds = { GATEWAY_TIME_UNIT: 'ms' };
  expect(await printed(otherNames, claims, milliseconds)).toMatchInlineSnapshot(`
    "Configuration  fine
    Gateway        http://gateway
      op 12  401  without a token
      op 11  200  fields as described
      op 12  200  fields as described
      op 13  200  fields as described
      op 11  401  a broken signature
      op 12  401  a broken signature
      op 13  401  a broken signature

    Problems
      - GATEWAY_LOGIN_CLAIM  The claim login holds no login. The claims: sub (string), mt5_account (number), tier (string), exp (number).
      - op 1: Neither op 10 nor the token names a group, so the catalog is not checked.
      - op 12: Each of positions[] lacks priceOpen; they will be null.

    Warnings
      - op 12: Not in the interface, and not read: positions[].open_price (number), total (number).

    3 problems."
  `);
  const login = { ...milliseconds, GATEWAY_LOGIN_CLAIM: 'mt5_account' };
  expect(await printed(otherNames, claims, login)).toMatchInlineSnapshot(`
    "Configuration  fine
    Gateway        http://gateway
      op 12  401  without a token
      op 10  200  fields as described
      op 11  200  fields as described
      op 12  200  fields as described
      op 13  200  fields as described
      op 1   200  fields as described
      op 10  401  a broken signature
      op 11  401  a broken signature
      op 12  401  a broken signature
      op 13  401  a broken signature

    Problems
      - GATEWAY_TIME_UNIT  op 10: createdAt: time expected, another number 1 of 1 times found; is it in another unit?
      - GATEWAY_GROUP_CLAIM  The claim group does not hold the group of op 10. It is in: tier (string).
      - op 12: Each of positions[] lacks priceOpen; they will be null.
      - op 1: [].digits: whole number expected, missing 1 of 2 times found; such an instrument is left out of the catalog.
      - op 1: 1 of 2 instruments are left out.

    Warnings
      - op 12: Not in the interface, and not read: positions[].open_price (number), total (number).

    5 problems."
  `);
});

/** It verifies no signature and serves everybody; its cache is old, and one operation is down. */
const careless: Answers = (operation) => {
  const age = { age: 7_200, etag: '"1"' };
  if (operation === 'getAllTickers') return answer(200, [instrumentWith({ id: 'X' })], age);
  if (operation === 'getCustomerId')
    return answer(503, 'busy', { 'content-type': 'text/plain', 'retry-after': 7 });
  return answer(200, answerOf(operation));
};

test('a gateway that trusts every token', async () => {
  expect(await printed(careless, ORDINARY)).toMatchInlineSnapshot(`
    "Configuration  fine
    Gateway        http://gateway
      op 12  200  without a token
      op 10  200  fields as described
      op 11  200  fields as described
      op 12  200  fields as described
      op 13  503
      op 1   200  fields as described
      op 10  200  a broken signature
      op 11  200  a broken signature
      op 12  200  a broken signature

    Problems
      - op 12: It is answered without a token; the interface requires one.
      - op 13: Status 503, text/plain.
      - CATALOG_MAX_AGE_SECONDS  op 1: The catalog is 7200 s old when it arrives, and may be 3600 s old: it is always marked stale.
      - JWT_SECRET  op 10: A token without a valid signature is accepted, so the gateway's 200 proves nothing.
      - JWT_SECRET  op 11: A token without a valid signature is accepted, so the gateway's 200 proves nothing.
      - JWT_SECRET  op 12: A token without a valid signature is accepted, so the gateway's 200 proves nothing.

    Warnings
      - op 1: 2 of 2 symbols of positions and orders are not the id of an instrument: their \`instrument\` will be null.

    6 problems."
  `);
});
