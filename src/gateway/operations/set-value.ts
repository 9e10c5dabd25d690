import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import type { Json } from '../requests.ts';
import { acknowledged } from './acknowledged.ts';

export const VALUE = f.table('Value', { value: f.vital(f.json) });

interface Given {
  readonly key: string;
  readonly value: unknown;
}

export const setValue = write({
  name: 'setValue',
  number: 9,
  isIdempotent: true,
  calls: { put: acknowledged('PUT', '/user/kv/{key}', VALUE) },
  run: (calls, { key, value }: Given) =>
    calls.acknowledged('put', {
      path: { key },
      body: VALUE.toWire({ value: value as Exclude<Json, undefined> }),
    }),
});
