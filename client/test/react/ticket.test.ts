import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { eventually } from '../../../test/support/eventually.ts';
import type { OrderInput } from '../../src/orders/order-input.ts';
import type { ExampleApp } from '../support/example-app.ts';
import { type HooksPage, openHooksPage, startHooksApp } from './hooks-page.ts';

interface Shown {
  readonly status: string;
  readonly outcome: {
    readonly status: string;
    readonly idempotencyKey: string;
    readonly error?: { readonly code?: string } | string | null;
  } | null;
}

const order = (symbol: string): OrderInput => ({ symbol, side: 'BUY', size: { units: 1 } });
const hasStatus =
  (wanted: string) =>
  ({ status }: Shown) =>
    status === wanted;

describeWithChromium('useTicket', (executablePath) => {
  let app: ExampleApp;
  beforeAll(async () => {
    app = await startHooksApp(executablePath);
  });
  afterEach(async () => {
    await app.closePages();
    app.facade.sandbox.reset();
    await app.line.heal();
  });
  afterAll(() => app[Symbol.asyncDispose]());

  const applied = () => app.facade.sandbox.orders().length;
  async function openForm(): Promise<HooksPage> {
    const hooks = await openHooksPage(app);
    await hooks.call('show', { ticket: true });
    await hooks.shows<Shown>('ticket', hasStatus('ready'));
    return hooks;
  }

  test('a double tap is one order', async () => {
    const hooks = await openForm();
    app.facade.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 300, times: 1 });
    const taps = [1, 2, 3].map(() => hooks.call('place', order('AAPL')));
    await hooks.shows<Shown>('ticket', hasStatus('placing'));
    expect(await Promise.all(taps)).toEqual(['accepted', 'accepted', 'accepted']);
    await hooks.shows<Shown>('ticket', hasStatus('accepted'));
    expect(applied()).toBe(1);
    expect(await hooks.call('place', order('AAPL'))).toBe('accepted');
    expect(applied()).toBe(1);
  });

  test('only a reset makes the next order, with a key of its own', async () => {
    const hooks = await openForm();
    app.facade.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 300, times: 1 });
    const placing = hooks.call('place', order('AAPL'));
    await hooks.shows<Shown>('ticket', hasStatus('placing'));
    // On its way the order is not forgotten.
    await hooks.call('reset');
    expect(await placing).toBe('accepted');
    const first = await hooks.shows<Shown>('ticket', hasStatus('accepted'));
    await hooks.call('reset');
    expect(await hooks.shows<Shown>('ticket', hasStatus('ready'))).toEqual({
      status: 'ready',
      outcome: null,
    });
    await hooks.call('place', order('AAPL'));
    const second = await hooks.shows<Shown>('ticket', hasStatus('accepted'));
    expect(second.outcome?.idempotencyKey).not.toBe(first.outcome?.idempotencyKey);
    expect(applied()).toBe(2);
  });

  test('an unknown order stays unknown when the form is edited, and is asked about under its key', async () => {
    const hooks = await openForm();
    await hooks.call('place', order('TEST.UNKNOWN'));
    const first = await hooks.shows<Shown>('ticket', hasStatus('unknown'));
    expect(applied()).toBe(1);
    expect(await hooks.call('place', order('AAPL'))).toBe('unsent');
    expect(await hooks.shows<Shown>('ticket', hasStatus('unknown'))).toEqual(first);
    expect(await hooks.call('retry')).toBe('unknown');
    const second = await hooks.shows<Shown>('ticket', hasStatus('unknown'));
    expect(second.outcome?.idempotencyKey).toBe(first.outcome?.idempotencyKey);
    expect(applied()).toBe(1);
  });

  test('an order that was not sent is corrected and placed', async () => {
    const hooks = await openForm();
    expect(await hooks.call('retry')).toBeNull();
    expect(await hooks.call('place', { ...order('AAPL'), size: { units: -1 } })).toBe('unsent');
    const { outcome } = await hooks.shows<Shown>('ticket', hasStatus('unsent'));
    expect(outcome?.error).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(await hooks.call('place', order('AAPL'))).toBe('accepted');
    expect(applied()).toBe(1);
  });

  test('an order that could not be sent is sent by a retry', async () => {
    const hooks = await openForm();
    await app.line.refuse();
    expect(await hooks.call('place', order('MSFT'), { withinMs: 500 })).toBe('unsent');
    const { outcome } = await hooks.shows<Shown>('ticket', hasStatus('unsent'));
    expect(outcome?.error).toMatchObject({ code: 'NETWORK' });
    await app.line.heal();
    expect(await hooks.call('retry')).toBe('accepted');
    await hooks.shows<Shown>('ticket', hasStatus('accepted'));
    expect(applied()).toBe(1);
  });

  test('a form that is left while its order is on its way harms nothing', async () => {
    const hooks = await openForm();
    app.facade.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 200, times: 1 });
    const placing = hooks.call('place', order('AAPL'));
    await hooks.shows<Shown>('ticket', hasStatus('placing'));
    await hooks.call('show', null);
    expect(await placing).toBe('accepted');
    expect(applied()).toBe(1);
    expect(hooks.errors).toEqual([]);
  });

  test('another account does not see the order of the one before, and places its own', async () => {
    const hooks = await openForm();
    await hooks.call('place', order('TEST.UNKNOWN'));
    await hooks.shows<Shown>('ticket', hasStatus('unknown'));
    // Without anybody it stays: it is still the same person's, as far as is known.
    await hooks.signIn(null);
    await hooks.call('tokenChanged');
    await hooks.shows<Shown>('ticket', hasStatus('unknown'));
    await hooks.signIn('demo@example.com');
    await hooks.call('tokenChanged');
    expect(await hooks.call('retry')).toBe('unknown');
    await hooks.signIn('pro@example.com');
    await hooks.call('tokenChanged');
    await hooks.shows<Shown>('ticket', hasStatus('ready'));
    expect(await hooks.call('retry')).toBeNull();
    expect(await hooks.call('place', order('AAPL'))).toBe('accepted');
    const logins = app.facade.sandbox.orders().map(({ login }) => login);
    expect(logins).toEqual([700_001, 700_002]);
    expect(hooks.errors).toEqual([]);
  });

  test('an order on its way for one account is not shown to the next', async () => {
    const hooks = await openForm();
    app.facade.sandbox.fail({ operation: 'openPosition', kind: 'delay', delayMs: 1_000, times: 1 });
    const placing = hooks.call('place', order('AAPL'));
    await eventually(() => applied() === 1 || app.facade.sandbox.calls('openPosition') === 1);
    await hooks.signIn('pro@example.com');
    await hooks.call('tokenChanged');
    await hooks.shows<Shown>('ticket', hasStatus('ready'));
    await placing;
    expect(await hooks.shows<Shown>('ticket', () => true)).toEqual({
      status: 'ready',
      outcome: null,
    });
    expect(hooks.errors).toEqual([]);
  });
});
