import type { ReadCalls } from './calls.ts';
import type { Answer } from './exchange.ts';
import type { CallValues } from './requests.ts';

/** One page of a list, and what asks for the next; null at the end. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: CallValues | null;
}

/**
 * Reads a list over all of its pages, within the operation's one deadline and size. A list is whole or it is no answer: a row that comes
 * twice, as where rows move between two pages, breaks it. `calls` refuses a page too many.
 */
export async function wholeOf<Row extends { readonly id: unknown }, Name extends string>(
  calls: ReadCalls<Name>,
  name: NoInfer<Name>,
  first: CallValues,
  read: (answer: Answer) => Page<Row>,
): Promise<readonly Row[]> {
  const byId = new Map<unknown, Row>();
  let next: CallValues | null = first;
  while (next !== null) {
    const page: Page<Row> = read(await calls.send(name, next));
    for (const row of page.rows) {
      if (byId.has(row.id)) throw calls.broken('a row on two pages');
      byId.set(row.id, row);
    }
    next = page.next;
  }
  return [...byId.values()];
}
