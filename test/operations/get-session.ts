import { readingIn } from '../../src/gateway/wire/scalars.ts';
import { toSession } from '../gateway/wire/read-session.ts';
import { sessionRow } from '../gateway/wire/rows.ts';
import { loginNamed } from '../support/accounts.ts';
import { READ, type ReadCase } from './operation-case.ts';

export const getSession: ReadCase = {
  ...READ,
  call: (client, caller) => client.getSession(caller, loginNamed('700001')),
  ask: (gateway, viewer) => gateway.getSession(viewer),
  field: 'session',
  document: '{ session(maxAge: 0) { login } }',
  sends: 'GET /trading/session/700001',
  proves: 'login',
  errors: 'message',
  answer: sessionRow,
  times: 19,
  read: (body, unit) => toSession(body, '700001', readingIn(unit)),
};
