import { firstCallOf } from '../src/gateway/operation-traits.ts';
import { OPERATIONS } from '../src/gateway/operations.ts';
import { withPart } from './page-part.ts';

/** The page with its table of the gateway's operations made again. */
export function withOperations(page: string): string {
  const rows = Object.values(OPERATIONS).map((operation) => {
    const { method, path } = firstCallOf(operation);
    return `| ${operation.number} | \`${operation.name}\` | \`${method} ${path}\` |\n`;
  });
  return withPart(page, 'operations', `| op | Name | |\n|---|---|---|\n${rows.join('')}`);
}
