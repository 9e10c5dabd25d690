import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

const value = { a: [1, null, 'x'] };

export const setValue = write(
  OPERATIONS.setValue,
  { key: 'a/b c?d=é#%2F', value },
  {
    body: { value },
    sends: 'PUT /user/kv/a%2Fb%20c%3Fd%3D%C3%A9%23%252F',
    fields: 'key: "a/b c?d=é#%2F", value: { a: [1, null, "x"] }',
  },
);
