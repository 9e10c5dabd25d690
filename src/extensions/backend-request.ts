import { isObject } from '../../lib/is-object.ts';
import { InputError } from '../domain/input-error.ts';
import { fault, shown } from './faults.ts';
import type { WriteRequest } from './kit.ts';

const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** Checks what a resolver asks of a backend: an object in place of a string would be sent as `[object Object]`. */
export function checkRequest(
  name: string,
  template: string | undefined,
  { path = {}, query = {}, idempotencyKey }: WriteRequest,
): void {
  if (template === undefined) throw fault(`${name} is no operation of its backend`);
  for (const [option, values] of Object.entries({ path, query })) {
    if (!isObject(values)) throw fault(`${option} of ${name} must be an object of strings`);
    const segments = option === 'path' ? (template.match(/(?<=\{)\w+(?=\})/g) ?? []) : [];
    for (const each of new Set([...segments, ...Object.keys(values)])) {
      const value = values[each];
      if (typeof value === 'string') continue;
      throw fault(`${option}.${each} of ${name} must be a string (it is ${shown(value)})`);
    }
  }
  if (idempotencyKey === undefined) return;
  if (typeof idempotencyKey !== 'string') {
    throw fault(`idempotencyKey of ${name} must be a string (it is ${shown(idempotencyKey)})`);
  }
  if (!KEY.test(idempotencyKey)) {
    throw new InputError('idempotencyKey', 'A key has 1 to 255 printable characters of ASCII.');
  }
}
