import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { launchChromium } from '../../../test/support/launch-chromium.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { createSampleProject } from '../support/sample-project.ts';

const MAIN = `
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import App from './App';
const root = document.createElement('main');
document.body.replaceChildren(root);
createRoot(root).render(<StrictMode><App /></StrictMode>);
`;

describeWithChromium('in a browser', (executablePath) => {
  test.each(['apollo', 'urql', 'relay'])(
    'the app of %s signs in, shows what is live, over a lost line too, and takes an order whose answer is lost to its end',
    async (guide) => {
      await using project = await createSampleProject(`docs/clients/${guide}.md`);
      project.write('src/main.tsx', MAIN);
      await project.generate();
      const script = await project.bundle('src/main.tsx', 'es');
      await using app = await startTestApp({ POSITIONS_POLL_MS: '100' });
      const proxy = await startCutProxy(app.url);
      onTestFinished(() => proxy.close());
      await using browser = await launchChromium(executablePath);
      const page = await browser.newPage();
      const thrown: unknown[] = [];
      page.on('pageerror', (error) => thrown.push(error));
      let snapshots = 0;
      await page.routeWebSocket(/graphql/, (line) => {
        line.connectToServer().onMessage((text) => {
          const isSnapshot = String(text).includes('"snapshot":true');
          if (isSnapshot) snapshots += 1;
          // A field of a row that has failed leaves the rest of the list as it is.
          const message = JSON.parse(String(text));
          if (isSnapshot) message.payload.errors = [{ message: 'A field has failed.' }];
          line.send(JSON.stringify(message));
        });
      });
      // A page of the endpoint's own origin.
      await page.goto(`${proxy.url}/health/live`);
      await page.addScriptTag({
        type: 'module',
        content: `globalThis.graphqlUrl = ${JSON.stringify(`${proxy.url}/graphql`)};\n${script}`,
      });
      // The app of Apollo signs in by itself.
      if (guide !== 'apollo') await page.getByRole('button', { name: 'Sign in' }).click();
      const live = page.getByRole('heading', { name: 'Positions LIVE' });
      await live.waitFor();
      const positions = () => page.locator('section p').allTextContents();
      const before = await positions();
      expect(before.length).toBeGreaterThan(3);
      app.sandbox.tick(5);
      await eventually(async () => expect(await positions()).not.toEqual(before));
      await proxy.refuse();
      await page.getByRole('heading', { name: /not live|OFFLINE/ }).waitFor();
      await proxy.heal();
      await live.waitFor();
      let lost = 0;
      await page.route('**/graphql*', async (route) => {
        if (lost > 0 || !route.request().postData()?.includes('placeOrder'))
          return route.continue();
        lost += 1;
        await route.fetch();
        await route.abort();
      });
      await page.getByRole('button', { name: 'Buy 1 AAPL' }).click();
      await page.getByText('Done.').waitFor();
      expect(lost).toBe(1);
      await eventually(async () => expect(await positions()).toHaveLength(before.length + 1));
      expect(app.sandbox.orders()).toHaveLength(1);
      const body = { positions: [{ id: 'left', symbol: 'MSFT' }] };
      app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 200, body });
      await eventually(async () => expect(await positions()).toHaveLength(1));
      expect(snapshots).toBe(1);
      expect(thrown).toEqual([]);
    },
  );
});
