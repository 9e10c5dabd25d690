import { z } from 'zod';
import { OPERATION_NAMES } from '../gateway/operations.ts';
import type { CatalogChange, CatalogHeaders } from './catalog.ts';
import type { TokenOptionsInput } from './control.ts';
import { FAULT_KINDS, type Fault } from './faults.ts';
import { findUserByEmail, findUserByLogin } from './users.ts';

/** A control request that makes no sense; its message says why. */
export class Refused extends Error {}

const count = z.int().min(0).max(1_000_000_000);
const headers = z.record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\t\x20-\x7e]*$/));

const fault = z.strictObject({
  operation: z.enum([...OPERATION_NAMES, '*']),
  kind: z.enum(FAULT_KINDS),
  status: z.int().min(200).max(599).optional(),
  body: z.unknown().optional(),
  headers: headers.optional(),
  delayMs: count.optional(),
  times: count.min(1).optional(),
  forMs: count.optional(),
  skip: count.optional(),
  login: count.optional(),
  apply: z.boolean().optional(),
  bytes: z.int().min(0).max(17_179_869_184).optional(),
});

const tokenOptions = z.strictObject({
  email: z.string().optional(),
  login: count.optional(),
  group: z.string().optional(),
  expiresInSeconds: z.int().optional(),
  signature: z.enum(['valid', 'forged']).optional(),
});

const catalogChange = z.strictObject({
  change: count.optional(),
  add: count.max(100_000).optional(),
  remove: count.optional(),
  broken: count.optional(),
  empty: z.boolean().optional(),
  ageSeconds: count.nullable().optional(),
  cacheControl: z.string().nullable().optional(),
  etag: z.boolean().optional(),
  headers: headers.optional(),
});

export function readFault(input: unknown): Fault {
  return read(fault, input);
}

export function readTokenOptions(input: unknown): TokenOptionsInput {
  const options = read(tokenOptions, input);
  const user =
    options.email === undefined
      ? findUserByLogin(options.login ?? 0)
      : findUserByEmail(options.email);
  if (user === null) throw new Refused('email or login of a sandbox user is required');
  return options;
}

export function readCatalogChange(input: unknown): CatalogChange & CatalogHeaders {
  return read(catalogChange, input);
}

function read<T>(schema: z.ZodType<T>, input: unknown): T {
  const checked = schema.safeParse(input);
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new Refused(problems.join('; '));
}
