import type { Browser } from 'playwright-core';
import { openPage, type PageOptions, waitForGraphiQL } from '../../support/browser-page.ts';
import { DESKTOP } from '../../support/demo-visit.ts';

/** The part of an address, after its `#` or `?`, that opens a tab with an operation. */
export function linkOf(query: string, variables?: unknown): string {
  const given = variables !== undefined && { variables: JSON.stringify(variables) };
  return String(new URLSearchParams({ query, ...given }));
}

/** Opens GraphiQL. `rest` is the end of its address, which can open a tab with an operation. */
export async function openGraphiql(
  browser: Browser,
  url: string,
  rest = '',
  options: PageOptions = {},
) {
  const address = `${url}/graphql${rest}`;
  const opened = await openPage(browser, address, { viewport: DESKTOP, ...options });
  const { page } = opened;
  await waitForGraphiQL(page);
  return {
    ...opened,
    run: () => page.getByRole('button', { name: /execute query/i }).click(),
    stop: () => page.getByRole('button', { name: /^stop/i }).click(),
    result: page.locator('.result-window'),
    /** The line below the answer. */
    summary: page.locator('#answer-summary'),
  };
}
