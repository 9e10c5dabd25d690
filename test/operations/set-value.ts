import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

const value = { a: [1, null, 'x'] };

export const setValue = write(
  OPERATIONS.setValue,
  { key: 'a/b c?d=é#%2F', value },
  {
    fields: 'key: "a/b c?d=é#%2F", value: { a: [1, null, "x"] }',
  },
);
