import type { Page, Route } from 'playwright-core';
import type { Sandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../../test/support/eventually.ts';

const DEMO = 700_001;

/** Refuses the page's token, and holds the next sign-in, by which the page renews it. */
export async function holdRenewal(page: Page, sandbox: Sandbox) {
  const held = await interceptSignIn(page);
  sandbox.revoke({ login: DEMO });
  await eventually(() => held.length === 1);
  return {
    /** Lets it be answered; the page has the answer then. */
    async answer(): Promise<void> {
      const [route] = held;
      const answered = page.waitForEvent('requestfinished', (each) => each === route?.request());
      await route?.continue();
      await answered;
    },
  };
}

/** The next sign-in of the page, once it has begun: whoever asks decides what becomes of it. */
export async function interceptSignIn(page: Page): Promise<readonly Route[]> {
  const held: Route[] = [];
  await page.route('**/graphql*', async (route) => {
    const isNext = held.length === 0 && route.request().postData()?.includes('login(');
    if (isNext) held.push(route);
    else await route.continue();
  });
  return held;
}
