import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { ExampleApp } from '../support/example-app.ts';
import { type HooksPage, openHooksPage, startHooksApp } from './hooks-page.ts';

interface List {
  readonly status: string;
  readonly rows: readonly { readonly id: string; readonly profit: number }[];
}

interface Catalog {
  readonly status: string;
  readonly code: string | null;
  readonly size: number;
  readonly first: string | null;
}

const isReady = ({ status }: Catalog) => status === 'ready';
const isLive = ({ status, rows }: List) => status === 'LIVE' && rows.length > 0;
const framesOf = ({ sent }: HooksPage, type: string) =>
  sent.map((text) => JSON.parse(text)).filter((frame) => frame.type === type);

describeWithChromium('in a browser', (executablePath) => {
  let app: ExampleApp;
  beforeAll(async () => {
    app = await startHooksApp(executablePath);
  });
  afterEach(async () => {
    await app.closePages();
    await app.line.heal();
  });
  afterAll(() => app[Symbol.asyncDispose]());

  describe('usePositions', () => {
    test('two components in strict mode share one subscription, and see the market move', async () => {
      const hooks = await openHooksPage(app);
      await hooks.call('show', { positions: 2 });
      const first = await hooks.shows<List>('positions', isLive);
      const renders = await hooks.call('renders');
      app.facade.sandbox.tick();
      await hooks.shows<List>('positions', ({ rows }) => rows[0]?.profit !== first.rows[0]?.profit);
      // Strict mode renders each change twice; a snapshot that is made anew each time would render without end.
      expect((await hooks.call('renders')) - renders).toBeLessThanOrEqual(8);
      const texts = await hooks.page.locator('output.positions').allTextContents();
      expect(texts[0]).toBe(texts[1]);
      expect(framesOf(hooks, 'subscribe')).toHaveLength(1);
      expect(framesOf(hooks, 'complete')).toEqual([]);
      expect(hooks.open).toBe(1);
      expect(hooks.errors).toEqual([]);
    });

    test('two components with useAccount share one subscription, and show the whole account', async () => {
      const hooks = await openHooksPage(app);
      await hooks.call('show', { accounts: 2 });
      await hooks.shows<{ balance?: number }>('account', ({ balance }) => balance !== undefined);
      const texts = await hooks.page.locator('output.account').allTextContents();
      const shown = { status: 'LIVE', positions: 6, orders: 3, balance: 50_000 };
      expect(texts.map((text) => JSON.parse(text))).toEqual([shown, shown]);
      expect(framesOf(hooks, 'subscribe')).toHaveLength(1);
      expect(hooks.errors).toEqual([]);
    });

    test('another interval goes on from the cursor, over the same socket', async () => {
      const hooks = await openHooksPage(app);
      await hooks.call('show', { positions: 1 });
      await hooks.shows<List>('positions', isLive);
      await hooks.call('show', { positions: 1, intervalMs: 200 });
      await eventually(() => framesOf(hooks, 'complete').length === 1);
      await eventually(() => framesOf(hooks, 'subscribe').length > 1);
      const [first, second, ...others] = framesOf(hooks, 'subscribe');
      expect(first.payload.variables).toMatchObject({
        after: null,
        intervalMs: null,
        heartbeatSeconds: 15,
      });
      expect(second.payload.variables).toMatchObject({
        after: expect.any(String),
        intervalMs: 200,
      });
      expect(others).toEqual([]);
      expect(hooks.open).toBe(1);
      const before = await hooks.shows<List>('positions', isLive);
      app.facade.sandbox.tick();
      await hooks.shows<List>(
        'positions',
        ({ rows }) => rows[0]?.profit !== before.rows[0]?.profit,
      );
    });

    test('the last component that is unmounted ends the subscription', async () => {
      const hooks = await openHooksPage(app);
      await hooks.call('show', { positions: 2 });
      await hooks.shows<List>('positions', isLive);
      await hooks.call('show', { positions: 1 });
      app.facade.sandbox.tick();
      await hooks.shows<List>('positions', isLive);
      expect(framesOf(hooks, 'complete')).toEqual([]);
      await hooks.call('show', null);
      await eventually(() => hooks.open === 0);
      expect(hooks.errors).toEqual([]);
    });

    test('another client takes the place of the first, whose line is closed', async () => {
      const hooks = await openHooksPage(app);
      await hooks.call('show', { positions: 1 });
      const demo = await hooks.shows<List>('positions', isLive);
      await hooks.signIn('pro@example.com');
      await hooks.call('newClient');
      await hooks.call('show', { positions: 1 });
      await hooks.shows<List>(
        'positions',
        (list) => isLive(list) && list.rows[0]?.id !== demo.rows[0]?.id,
      );
      await eventually(() => hooks.open === 1);
      expect(hooks.errors).toEqual([]);
    });

    test('a page that a server has rendered is taken up without a difference, though its client knows more', async () => {
      const hooks = await openHooksPage(app);
      await hooks.call('show', { positions: 1 });
      await hooks.shows<List>('positions', isLive);
      await hooks.call('follow');
      await hooks.call('show', null);
      const html = await hooks.call('hydrate', { positions: 1, catalogs: 1, ticket: true });
      expect(html).toContain('OFFLINE');
      await hooks.shows<List>('positions', isLive);
      expect(hooks.errors).toEqual([]);
    });
  });

  describe('useCatalog', () => {
    test('components in strict mode load it once, and hold the same object', async () => {
      const hooks = await openHooksPage(app);
      await hooks.call('show', { catalogs: 3 });
      const { size, first } = await hooks.shows<Catalog>('catalog', isReady);
      expect(size).toBe(500);
      expect(first).toBe('AAPL');
      expect(hooks.requests('catalog')).toBe(1);
      await hooks.call('rememberCatalog');
      expect(await hooks.call('isSameCatalog')).toBe(true);
      // One that is mounted later loads nothing.
      const renders = await hooks.call('renders');
      await hooks.call('show', { catalogs: 4 });
      await eventually(async () => (await hooks.page.locator('output.catalog').count()) === 4);
      expect(await hooks.call('isSameCatalog')).toBe(true);
      expect(hooks.requests('catalog')).toBe(1);
      expect((await hooks.call('renders')) - renders).toBeLessThanOrEqual(10);
      expect(hooks.errors).toEqual([]);
    });

    test('a refresh without news keeps the object, one with news makes another', async () => {
      const hooks = await openHooksPage(app);
      await hooks.call('show', { catalogs: 2 });
      const before = await hooks.shows<Catalog>('catalog', isReady);
      await hooks.call('rememberCatalog');
      await hooks.call('refresh');
      expect(await hooks.call('isSameCatalog')).toBe(true);
      // In another group the same client finds another catalog.
      await hooks.signIn('pro@example.com');
      await hooks.call('tokenChanged');
      const after = await hooks.shows<Catalog>(
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
      await hooks.shows<Catalog>(
        'catalog',
        ({ status, code }) => status === 'failed' && code === 'SIGNED_OUT',
      );
      await hooks.signIn('demo@example.com');
      await hooks.call('tokenChanged');
      await hooks.shows<Catalog>('catalog', isReady);
      await hooks.signIn(null);
      await hooks.call('tokenChanged');
      const out = await hooks.shows<Catalog>('catalog', ({ status }) => status === 'failed');
      expect(out).toMatchObject({ code: 'SIGNED_OUT', size: 0, first: null });
      expect(hooks.errors).toEqual([]);
    });

    test('one that cannot be loaded says why, and is there after a refresh', async () => {
      const hooks = await openHooksPage(app);
      await app.line.refuse();
      await hooks.call('show', { catalogs: 1 });
      await hooks.shows<Catalog>(
        'catalog',
        ({ status, code }) => status === 'failed' && code === 'NETWORK',
      );
      await app.line.heal();
      await hooks.call('refresh');
      await hooks.shows<Catalog>('catalog', isReady);
      // A copy that is there stays, whatever becomes of a refresh.
      await app.line.refuse();
      await hooks.call('refresh');
      await hooks.shows<Catalog>(
        'catalog',
        (shown) => isReady(shown) && shown.code === 'NETWORK' && shown.size === 500,
      );
      expect(hooks.errors).toEqual([]);
    });
  });
});
