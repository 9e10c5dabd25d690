import {
  OPERATION_NAMES,
  type OperationName,
  type ReadName,
} from '../../src/gateway/operations.ts';
import type { OperationCase, ReadCase } from './operation-case.ts';

type Cases = { readonly [Name in OperationName]: Name extends ReadName ? ReadCase : OperationCase };

/** The cases of all operations, for suites that iterate over these. For example, `get-session.ts` exports getSession. */
export const OPERATION_CASES = Object.fromEntries(
  await Promise.all(OPERATION_NAMES.map(async (name) => [name, await caseOf(name)])),
) as Cases;

async function caseOf(name: OperationName): Promise<OperationCase> {
  const file = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const { [name]: found } = await import(`./${file}.ts`);
  if (found === undefined) throw new Error(`test/operations/${file}.ts does not export ${name}`);
  return found;
}
