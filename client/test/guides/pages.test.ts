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
  test.each(['docs/clients/urql.md', 'docs/clients/relay.md'])(
    'the app of %s signs in, shows live positions over a lost line too, and places one order',
    async (guide) => {
      await using project = await createSampleProject(guide);
      project.write('src/main.tsx', MAIN);
      await project.generate();
      const script = await project.bundle('src/main.tsx');
      await using app = await startTestApp({ POSITIONS_POLL_MS: '100' });
      const proxy = await startCutProxy(app.url);
      onTestFinished(() => proxy.close());
      await using browser = await launchChromium(executablePath);
      const page = await browser.newPage();
      const thrown: unknown[] = [];
      page.on('pageerror', (error) => thrown.push(error));
      let snapshots = 0;
      page.on('websocket', (socket) => {
        socket.on('framereceived', ({ payload }) => {
          if (String(payload).includes('"snapshot":true')) snapshots += 1;
        });
      });
      // A page of the endpoint's own origin.
      await page.goto(`${proxy.url}/health/live`);
      await page.addScriptTag({
        content: `globalThis.graphqlUrl = ${JSON.stringify(`${proxy.url}/graphql`)};\n${script}`,
      });
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Positions LIVE' }).waitFor();
      const positions = () => page.locator('section p').allTextContents();
      const before = await positions();
      expect(before.length).toBeGreaterThan(3);
      app.sandbox.tick(5);
      await eventually(async () => expect(await positions()).not.toEqual(before));
      proxy.cut();
      await eventually(() => expect(proxy.upgrades).toBe(2));
      await page.getByRole('button', { name: 'Buy 1 AAPL' }).click();
      await page.getByText('Done.').waitFor();
      // Sent once more, the key makes it the same order.
      const again = page.waitForResponse(
        (response) => response.request().postData()?.includes('placeOrder') ?? false,
      );
      await page.getByRole('button', { name: 'Buy 1 AAPL' }).click();
      expect((await again).status()).toBe(200);
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
