import type { ReadCalls } from './calls.ts';
import type { Answer } from './exchange.ts';
import type { CallValues } from './requests.ts';

/** One page of a list, and the values that request the next page; null at the end. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: CallValues | null;
}

/**
 * Reads a list over all of its pages, within the operation's one deadline and limit of bytes. A list is complete or
 * invalid: a row on two pages breaks it, which happens when rows move between them. `calls` throws after too many pages.
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
