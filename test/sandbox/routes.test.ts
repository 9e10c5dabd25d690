import { describe, expect, test } from 'vitest';
import { OPERATION_NAMES, OPERATIONS } from '../../src/gateway/operations.ts';
import { createPath } from '../../src/gateway/request-templates.ts';
import { createRouter, createRoutes } from '../../src/sandbox/routes.ts';

// The values that the gateway's paths are filled with, one that has to be encoded among them.
const VALUES = { group: 'a b/c', login: '700001', key: 'é%', provider: 'mobile.wallet' };

describe('every operation is found by the path that the client makes', () => {
  const route = createRoutes(VALUES.provider);

  test.each(OPERATION_NAMES)('%s', (operation) => {
    const row = OPERATIONS[operation];
    const found = route(row.verb, createPath(row)(VALUES));
    expect(found).toMatchObject({ operation });
    expect(VALUES).toMatchObject((found as { params: object }).params);
  });

  test.each([
    ['GET', '/trading/session/', 'unknown'],
    ['GET', '/trading/session/1/2', 'unknown'],
    ['GET', '/trading', 'unknown'],
    ['POST', '/trading/session/1', 'wrong-method'],
    ['PUT', '/trading/positions', 'wrong-method'],
    ['GET', '/trading/session/%E0%A4%A', 'bad-encoding'],
    ['POST', '/payments/client/add-crm-mobilexwallet', 'unknown'],
  ])('%s %s is %s', (verb, path, expected) => {
    expect(route(verb, path)).toBe(expected);
  });
});

describe('a path', () => {
  const route = createRouter([
    { operation: 'getSession', verb: 'GET', path: '/users/{login}' },
    { operation: 'setValue', verb: 'PUT', path: '/users/{login}' },
    { operation: 'getOpenPositions', verb: 'GET', path: '/users/{login}/limits' },
    { operation: 'getCustomerId', verb: 'GET', path: '/users/{login}/cards/{card}.json' },
    { operation: 'login', verb: 'POST', path: '/users/me' },
  ]);

  test.each([
    ['GET', '/users/1', { operation: 'getSession', params: { login: '1' } }],
    ['PUT', '/users/1', { operation: 'setValue', params: { login: '1' } }],
    ['GET', '/users/1/limits', { operation: 'getOpenPositions', params: { login: '1' } }],
    [
      'GET',
      '/users/1/cards/2.json',
      { operation: 'getCustomerId', params: { login: '1', card: '2' } },
    ],
    ['GET', '/users/1/cards/2xjson', 'unknown'],
    ['GET', '/users/1/limits/2', 'unknown'],
    ['GET', '/users//limits', 'unknown'],
    ['PUT', '/users/1/limits', 'wrong-method'],
    ['POST', '/users/me', { operation: 'login', params: {} }],
    ['GET', '/users/me', { operation: 'getSession', params: { login: 'me' } }],
  ])('may go on after a parameter: %s %s', (verb, path, expected) => {
    expect(route(verb, path)).toEqual(expected);
  });
});
