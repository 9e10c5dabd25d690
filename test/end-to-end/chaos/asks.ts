import { OPERATION_NAMES, type OperationName } from '../../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../../operations/all.ts';
import type { OperationCase } from '../../operations/operation-case.ts';
import type { GraphQLAnswer, TestApp } from '../../support/app.ts';

export interface Ask extends Pick<OperationCase, 'document' | 'field'> {
  readonly operation: OperationName;
}

/** One request for each operation. */
export const ASKS: readonly Ask[] = OPERATION_NAMES.map((operation) => ({
  operation,
  ...OPERATION_CASES[operation],
}));

let asked = 0;

/** Returns the error code, else the type of the answer, or `data`. */
export async function askFor(
  app: Pick<TestApp, 'query'>,
  { document, field }: Ask,
  token: string,
): Promise<string> {
  asked += 1;
  const answer = await app.query(document, { token, variables: { key: `key ${asked}` } });
  return saidIn(answer, field);
}

/** Throws where an answer has both an error and data for one field, which contradicts itself. */
function saidIn({ status, data, errors }: GraphQLAnswer, field: string): string {
  const [error, ...others] = errors;
  const value = data?.[field] ?? null;
  if (status !== 200 || others.length > 0 || (error === undefined) === (value === null)) {
    return `status ${status}, ${JSON.stringify({ data, errors })}`;
  }
  return error?.extensions.code ?? value.__typename ?? 'data';
}
