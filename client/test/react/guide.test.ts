import { expect, test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startExampleApp } from '../support/example-app.ts';
import { namedSamples } from '../support/samples.ts';

test('the app of the guide has at most twenty lines', () => {
  const { text = '' } = namedSamples('docs/clients/react.md').get('src/App.tsx') ?? {};
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.length).toBeLessThanOrEqual(20);
});

describeWithChromium('the app of the guide', (executablePath) => {
  test('shows positions that move, places one order, and goes on after a lost line', async () => {
    await using app = await startExampleApp({
      folder: 'client/test/react/guide-page',
      executablePath,
      environment: { POSITIONS_POLL_MS: '100' },
      nodeEnvironment: 'development',
    });
    const { page, errors } = await app.open();
    const heading = page.getByRole('heading');
    await heading.getByText('LIVE').waitFor();
    expect(await page.locator('li').count()).toBe(6);
    const before = await heading.textContent();
    app.facade.sandbox.tick();
    await eventually(async () => (await heading.textContent()) !== before);
    await page.getByRole('button').dblclick();
    await page.getByText('accepted').waitFor();
    await eventually(async () => (await page.locator('li').count()) === 7);
    expect(app.facade.sandbox.orders()).toHaveLength(1);
    await app.line.refuse();
    await heading.getByText('OFFLINE').waitFor();
    await app.line.heal();
    await heading.getByText('LIVE').waitFor();
    expect(errors).toEqual([]);
  });
});
