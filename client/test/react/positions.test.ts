import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { ExampleApp } from '../support/example-app.ts';
import { type HooksPage, openHooksPage, startHooksApp } from './hooks-page.ts';

interface List {
  readonly status: string;
  readonly rows: readonly { readonly id: string; readonly profit: number }[];
}

const isLive = ({ status, rows }: List) => status === 'LIVE' && rows.length > 0;
const framesOf = ({ sent }: HooksPage, type: string) =>
  sent.map((text) => JSON.parse(text)).filter((frame) => frame.type === type);

describeWithChromium('usePositions', (executablePath) => {
  let app: ExampleApp;
  beforeAll(async () => {
    app = await startHooksApp(executablePath);
  });
  afterEach(() => app.closePages());
  afterAll(() => app[Symbol.asyncDispose]());

  test('two components in strict mode share one subscription, and see the market move', async () => {
    const hooks = await openHooksPage(app);
    await hooks.call('show', { positions: 2 });
    const first = await hooks.shows<List>('positions', isLive);
    app.facade.sandbox.tick();
    await hooks.shows<List>('positions', ({ rows }) => rows[0]?.profit !== first.rows[0]?.profit);
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

  test('nothing is rendered again while nothing changes', async () => {
    const hooks = await openHooksPage(app);
    await hooks.call('show', { positions: 1 });
    const before = await hooks.shows<List>('positions', isLive);
    const renders = await hooks.call('renders');
    app.facade.sandbox.tick();
    await hooks.shows<List>('positions', ({ rows }) => rows[0]?.profit !== before.rows[0]?.profit);
    // Strict mode renders each change twice; a snapshot that is made anew each time would render without end.
    expect((await hooks.call('renders')) - renders).toBeLessThanOrEqual(4);
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
    expect(second.payload.variables).toMatchObject({ after: expect.any(String), intervalMs: 200 });
    expect(others).toEqual([]);
    expect(hooks.open).toBe(1);
    const before = await hooks.shows<List>('positions', isLive);
    app.facade.sandbox.tick();
    await hooks.shows<List>('positions', ({ rows }) => rows[0]?.profit !== before.rows[0]?.profit);
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

  test('another account sees its own list alone', async () => {
    const hooks = await openHooksPage(app);
    await hooks.call('show', { positions: 1 });
    const demo = await hooks.shows<List>('positions', isLive);
    await hooks.signIn('pro@example.com');
    await hooks.call('tokenChanged');
    const pro = await hooks.shows<List>(
      'positions',
      (list) => isLive(list) && list.rows[0]?.id !== demo.rows[0]?.id,
    );
    const theirs = new Set(demo.rows.map(({ id }) => id));
    expect(pro.rows.filter(({ id }) => theirs.has(id))).toEqual([]);
    expect(pro.rows).toHaveLength(25);
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
