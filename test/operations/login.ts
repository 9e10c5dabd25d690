import { OPERATIONS } from '../../src/gateway/operations.ts';
import { mutation, type OperationCase, SIGN_IN } from './operation-case.ts';

export const login: OperationCase = {
  ...SIGN_IN,
  call: (client, caller) =>
    client.write(caller, OPERATIONS.login, { email: 'demo@example.com', password: 'demo' }),
  field: 'login',
  document: mutation('login', 'email: "demo@example.com", password: "demo"'),
};
