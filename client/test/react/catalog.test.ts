import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { ExampleApp } from '../support/example-app.ts';
import { openHooksPage, startHooksApp } from './hooks-page.ts';

interface Shown {
  readonly status: string;
  readonly code: string | null;
  readonly size: number;
  readonly first: string | null;
}

const isReady = ({ status }: Shown) => status === 'ready';

describeWithChromium('useCatalog', (executablePath) => {
  let app: ExampleApp;
  beforeAll(async () => {
    app = await startHooksApp(executablePath);
  });
  afterEach(async () => {
    await app.closePages();
    await app.line.heal();
  });
  afterAll(() => app[Symbol.asyncDispose]());

  test('three components in strict mode load it once, and hold the same object', async () => {
    const hooks = await openHooksPage(app);
    await hooks.call('show', { catalogs: 3 });
    const { size, first } = await hooks.shows<Shown>('catalog', isReady);
    expect(size).toBe(500);
    expect(first).toBe('AAPL');
    expect(hooks.requests('catalog')).toBe(1);
    await hooks.call('rememberCatalog');
    expect(await hooks.call('isSameCatalog')).toBe(true);
    expect(hooks.errors).toEqual([]);
  });

  test('a component that is mounted later loads nothing', async () => {
    const hooks = await openHooksPage(app);
    await hooks.call('show', { catalogs: 1 });
    await hooks.shows<Shown>('catalog', isReady);
    await hooks.call('rememberCatalog');
    const renders = await hooks.call('renders');
    await hooks.call('show', { catalogs: 2 });
    await eventually(async () => (await hooks.page.locator('output.catalog').count()) === 2);
    expect(await hooks.call('isSameCatalog')).toBe(true);
    expect(hooks.requests('catalog')).toBe(1);
    expect((await hooks.call('renders')) - renders).toBeLessThanOrEqual(6);
  });

  test('a refresh without news keeps the object, one with news makes another', async () => {
    const hooks = await openHooksPage(app);
    await hooks.call('show', { catalogs: 2 });
    const before = await hooks.shows<Shown>('catalog', isReady);
    await hooks.call('rememberCatalog');
    await hooks.call('refresh');
    expect(await hooks.call('isSameCatalog')).toBe(true);
    // In another group the same client finds another catalog.
    await hooks.signIn('pro@example.com');
    await hooks.call('tokenChanged');
    const after = await hooks.shows<Shown>(
      'catalog',
      (shown) => isReady(shown) && shown.size !== before.size,
    );
    expect(after.size).not.toBe(before.size);
    expect(await hooks.call('isSameCatalog')).toBe(false);
    expect(hooks.errors).toEqual([]);
  });

  test('whoever signs in finds a catalog, and nobody finds one when nobody is signed in', async () => {
    const hooks = await openHooksPage(app);
    await hooks.signIn(null);
    await hooks.call('show', { catalogs: 1 });
    await hooks.shows<Shown>(
      'catalog',
      ({ status, code }) => status === 'failed' && code === 'SIGNED_OUT',
    );
    await hooks.signIn('demo@example.com');
    await hooks.call('tokenChanged');
    await hooks.shows<Shown>('catalog', isReady);
    await hooks.signIn(null);
    await hooks.call('tokenChanged');
    const out = await hooks.shows<Shown>('catalog', ({ status }) => status === 'failed');
    expect(out).toMatchObject({ code: 'SIGNED_OUT', size: 0, first: null });
    expect(hooks.errors).toEqual([]);
  });

  test('one that cannot be loaded says why, and is there after a refresh', async () => {
    const hooks = await openHooksPage(app);
    await app.line.refuse();
    await hooks.call('show', { catalogs: 1 });
    await hooks.shows<Shown>(
      'catalog',
      ({ status, code }) => status === 'failed' && code === 'NETWORK',
    );
    await app.line.heal();
    await hooks.call('refresh');
    await hooks.shows<Shown>('catalog', isReady);
    // A copy that is there stays, whatever becomes of a refresh.
    await app.line.refuse();
    await hooks.call('refresh');
    await hooks.shows<Shown>(
      'catalog',
      (shown) => isReady(shown) && shown.code === 'NETWORK' && shown.size === 500,
    );
    expect(hooks.errors).toEqual([]);
  });
});
