import { ACKNOWLEDGED } from '../gateway/operations/acknowledged.ts';
import { isObject } from '../lib/json.ts';
import { json, type Reply } from './http.ts';

/** The values of a body, not checked, by the names of its table; empty if the body is not an object. */
export function valuesIn<Name extends string>(
  { names }: { readonly names: Readonly<Record<Name, string>> },
  body: unknown,
): Readonly<Partial<Record<Name, unknown>>> {
  const row = isObject(body) ? body : {};
  const sent = (Object.keys(names) as Name[]).filter((name) => row[names[name]] !== undefined);
  const values: Partial<Record<Name, unknown>> = {};
  for (const name of sent) values[name] = row[names[name]];
  return values;
}

/** The answer of a small write that was done. */
export function acknowledged(): Reply {
  return json(200, ACKNOWLEDGED.toWire({ success: true }));
}
