import { describe, expect, test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import { type ExampleApp, exampleApp } from '../support/example-app.ts';
import type { TestPage } from './page/main.ts';
import type { View } from './page/view.ts';

declare global {
  interface Window {
    testPage: TestPage;
  }
}

type Methods = Exclude<keyof TestPage, 'token'>;
type HooksPage = Awaited<ReturnType<typeof openHooksPage>>;

interface Form {
  readonly status: string;
  readonly progress: string | null;
  readonly outcome: {
    readonly status: string;
    readonly idempotencyKey: string;
  } | null;
}

interface List {
  readonly status: string;
  readonly rows?: readonly { readonly id: string; readonly profit: number }[];
}

const order = (symbol: string): OrderInput => ({
  symbol,
  side: 'BUY',
  kind: 'MARKET',
  size: { units: 1 },
});
const isLive = ({ status, rows }: List) => status === 'LIVE' && (rows?.length ?? 0) > 0;
const framesOf = ({ sent }: HooksPage, type: string) =>
  sent.map((text) => JSON.parse(text)).filter((frame) => frame.type === type);

describeWithChromium('in a browser', (executablePath) => {
  const app = exampleApp({
    folder: 'client/test/react/page',
    executablePath,
    nodeEnvironment: 'development',
  });

  describe('usePositions', () => {
    test('two components in strict mode share one subscription, see the market move, and can change their interval', async () => {
      const hooks = await openHooksPage(app, { positions: 2 });
      const first = await hooks.shows<List>('positions', isLive);
      const renders = await hooks.call('renders');
      app.facade.sandbox.tick();
      await hooks.shows<List>(
        'positions',
        ({ rows }) => rows?.[0]?.profit !== first.rows?.[0]?.profit,
      );
      // Strict mode renders each change twice in each component. If each render made a new snapshot, it would not end.
      expect((await hooks.call('renders')) - renders).toBeLessThanOrEqual(8);
      const texts = await hooks.page.locator('output.positions').allTextContents();
      expect(texts[0]).toBe(texts[1]);
      expect(framesOf(hooks, 'subscribe')).toHaveLength(1);
      expect(framesOf(hooks, 'complete')).toEqual([]);
      await hooks.call('show', { positions: 1, intervalMs: 200 });
      await eventually(() => expect(framesOf(hooks, 'complete')).toHaveLength(1));
      // A subscription with another interval resumes at the cursor.
      const resumed = { after: expect.any(String), intervalMs: 200 };
      expect(framesOf(hooks, 'subscribe')[1].payload.variables).toMatchObject(resumed);
      expect(hooks.open).toBe(1);
      await hooks.call('show', null);
      await eventually(() => expect(hooks.open).toBe(0));
    });

    test('a component of one position or a selection renders only when the position or the selection has changed', async () => {
      const hooks = await openHooksPage(app, { positions: 1 });
      const { rows } = await hooks.shows<List>('positions', isLive);
      const id = String(rows?.[0]?.id);
      await hooks.call('show', { positions: 1, apart: id });
      type Row = { id: string; profit: number | null } | null;
      const before = await hooks.shows<Row>('apart', (row) => row?.id === id);
      expect(await hooks.shows<object>('count', () => true)).toEqual({ count: rows?.length });
      const counts = await hooks.call('counts');
      for (const _tick of [1, 2]) {
        const last = await hooks.shows<Row>('apart', () => true);
        app.facade.sandbox.tick();
        await hooks.shows<Row>('apart', (row) => row?.profit !== last?.profit);
      }
      const list = await hooks.shows<List>('positions', isLive);
      const now = await hooks.shows<Row>('apart', (row) => row?.profit === list.rows?.[0]?.profit);
      expect(now?.profit).not.toBe(before?.profit);
      expect(await hooks.call('counts')).toBe(counts);
      expect(framesOf(hooks, 'subscribe')).toHaveLength(1);
    });

    test('another client replaces the first, whose connection is closed', async () => {
      const hooks = await openHooksPage(app, { positions: 1 });
      const demo = await hooks.shows<List>('positions', isLive);
      await hooks.signIn('pro@example.com');
      await hooks.call('newClient');
      await hooks.call('show', { positions: 1 });
      await hooks.shows<List>(
        'positions',
        (list) => isLive(list) && list.rows?.[0]?.id !== demo.rows?.[0]?.id,
      );
      await eventually(() => expect(hooks.open).toBe(1));
    });

    test('a page that a server has rendered hydrates without a mismatch, even if the client already has the list', async () => {
      const hooks = await openHooksPage(app, { positions: 1 });
      await hooks.shows<List>('positions', isLive);
      await hooks.call('follow');
      await hooks.call('show', null);
      const html = await hooks.call('hydrate', { positions: 1, ticket: true });
      expect(html).toContain('CONNECTING');
      await hooks.shows<List>('positions', isLive);
    });
  });

  describe('useTicket', () => {
    const placedOrders = () => app.facade.sandbox.orders().length;
    async function openForm(): Promise<HooksPage> {
      const hooks = await openHooksPage(app, { ticket: true });
      await showsForm(hooks, 'ready');
      return hooks;
    }

    test('a double tap places one order, whose progress the form shows, and a tap after a reset places another', async () => {
      const hooks = await openForm();
      const delayOnce = { kind: 'delay', delayMs: 2_000, times: 1 } as const;
      app.facade.sandbox.fail({ operation: 'openPosition', ...delayOnce });
      const taps = [1, 2, 3].map(() => hooks.call('place', order('AAPL')));
      await hooks.shows<Form>('ticket', { status: 'placing', progress: 'sending' });
      // A reset does not drop an order under way.
      await hooks.call('reset');
      await hooks.call('show', {});
      await hooks.call('show', { ticket: true });
      await showsForm(hooks, 'placing');
      await eventually(() => expect(app.facade.sandbox.calls('openPosition')).toBe(1));
      await app.line.refuse();
      await hooks.shows<Form>('ticket', { status: 'placing', progress: 'closing' });
      await app.line.heal();
      expect(await Promise.all(taps)).toEqual(['accepted', 'accepted', 'accepted']);
      const first = await showsForm(hooks, 'accepted');
      expect(await hooks.call('place', order('AAPL'))).toBe('accepted');
      expect(placedOrders()).toBe(1);
      await hooks.call('reset');
      expect(await showsForm(hooks, 'ready')).toEqual({
        status: 'ready',
        outcome: null,
        progress: null,
      });
      await hooks.call('place', order('AAPL'));
      const second = await showsForm(hooks, 'accepted');
      expect(second.outcome?.idempotencyKey).not.toBe(first.outcome?.idempotencyKey);
      expect(placedOrders()).toBe(2);
    });

    test('an unknown order stays unknown when the form is edited, and a retry asks for it under its key', async () => {
      const hooks = await openForm();
      await hooks.call('place', order('TEST.UNKNOWN'));
      const first = await showsForm(hooks, 'unknown');
      expect(placedOrders()).toBe(1);
      expect(await hooks.call('place', order('AAPL'))).toBe('unknown');
      expect(await showsForm(hooks, 'unknown')).toEqual(first);
      expect(await hooks.call('retry')).toBe('unknown');
      const second = await showsForm(hooks, 'unknown');
      expect(second.outcome?.idempotencyKey).toBe(first.outcome?.idempotencyKey);
      expect(placedOrders()).toBe(1);
    });
  });
});

/** A page with nothing but the hooks, in React's development build, which mounts each component twice. */
async function openHooksPage(app: ExampleApp, view: View | null = null) {
  const page = await app.open();
  const sent: string[] = [];
  let open = 0;
  page.on('websocket', (socket) => {
    open += 1;
    socket.on('framesent', ({ payload }) => sent.push(String(payload)));
    socket.on('close', () => {
      open -= 1;
    });
  });
  await page.waitForFunction(() => 'testPage' in window);
  const hooks = {
    page,
    /** Texts of the frames that were sent, oldest first. */
    sent: sent as readonly string[],
    /** WebSockets that are open. */
    get open() {
      return open;
    },
    call: async <Name extends Methods>(name: Name, ...args: Parameters<TestPage[Name]>) =>
      (await page.evaluate(
        ([method, given]) => {
          return (window.testPage[method] as (...all: unknown[]) => unknown)(...given);
        },
        [name, args] as const,
      )) as Awaited<ReturnType<TestPage[Name]>>,
    async signIn(email: string) {
      const token = app.facade.sandbox.token({ email });
      await page.evaluate((given) => {
        window.testPage.token = given;
      }, token);
    },
    /** Waits until the first component of this kind shows the wanted value, and returns it. */
    shows: <T>(kind: string, wanted: ((value: T) => boolean) | Partial<T>) =>
      eventually(async () => {
        const text = await page.locator(`output.${kind}`).first().textContent({ timeout: 5_000 });
        const value = JSON.parse(text ?? 'null') as T;
        if (typeof wanted !== 'function') expect(value).toMatchObject(wanted as object);
        else if (!wanted(value)) throw new Error(`shows ${text}`);
        return value;
      }),
  };
  await hooks.signIn('demo@example.com');
  await hooks.call('show', view);
  return hooks;
}

/** Waits until the form of an order shows this status. */
const showsForm = (hooks: HooksPage, wanted: string) =>
  hooks.shows<Form>('ticket', { status: wanted });
