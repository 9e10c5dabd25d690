import { OPERATIONS } from '../../src/gateway/operations.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { toSession } from '../gateway/wire/read-session.ts';
import { sessionRow } from '../gateway/wire/rows.ts';
import { loginNamed } from '../support/accounts.ts';
import { READ, type ReadCase } from './operation-case.ts';

export const getSession: ReadCase = {
  ...READ,
  call: (client, caller) =>
    client.read(caller, OPERATIONS.getSession, { login: loginNamed('700001'), onOwned() {} }),
  ask: (gateway, viewer) => gateway.getSession(viewer),
  field: 'session',
  document: '{ session(maxAge: 0) { login } }',
  proves: 'login',
  errors: 'message',
  answer: sessionRow,
  times: 19,
  read: (body, unit) => toSession(body, '700001', readingIn(unit)),
};
