import { createElement, type FunctionComponent } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../test/support/eventually.ts';
import { sharedApp } from '../../test/support/shared-app.ts';
import { createClientWith } from '../src/core-client.ts';
import { live } from '../src/live.ts';
import { orders } from '../src/orders.ts';
import type { AnyClient } from '../src/react/any-client.ts';
import { TradingGraphProvider } from '../src/react/provider.ts';
import { useAccount, usePositions } from '../src/react/use-live.ts';
import { useTicket } from '../src/react/use-ticket.ts';
import { signedIn } from './support/client.ts';

const app = sharedApp({ POSITIONS_POLL_MS: '100' });

test('a client has the features that it is made with, over one connection', async () => {
  const client = createClientWith(
    // A package's class is passed unchanged, as on Node 20.
    { ...signedIn(app), environment: { WebSocket } },
    live({ positionFields: ['symbol'] }),
  );
  client.positions(() => {});
  client.account(() => {});
  await eventually(() => expect(client.positions.state().status).toBe('LIVE'));
  await eventually(() => expect(client.account.state().status).toBe('LIVE'));
  expect(Object.keys(client.positions.state().positions?.[0] ?? {})).toEqual(['id', 'symbol']);
  // @ts-expect-error The client was made without orders.
  expect(client.orders).toBe(undefined);
  // The login, which is known only later, is not copied when the client is made.
  expect(client.login).toBe('700001');
  client.dispose();
});

test('a provider without a client throws an error that names the option', () => {
  const provider = createElement(TradingGraphProvider, { client: undefined as never });
  expect(() => renderToString(provider)).toThrow('takes a `client`');
});

const HOOKS: Readonly<Record<string, () => { readonly status: string }>> = {
  positions: usePositions,
  account: useAccount,
  orders: useTicket,
};

test.each(Object.entries(HOOKS))(
  'a hook for %s renders with that feature alone, and without it throws an error that names the feature',
  (name, hook) => {
    const features = { positions: live(), account: live(), orders: orders() };
    const own = createClientWith(signedIn(app), features[name as keyof typeof features]);
    const bare = createClientWith(signedIn(app));
    const Shown: FunctionComponent = () => createElement('p', null, hook().status);
    const html = (client: AnyClient) =>
      renderToString(createElement(TradingGraphProvider, { client }, createElement(Shown)));
    expect(html(own)).toMatch(/<p>(CONNECTING|ready)<\/p>/);
    expect(() => html(bare)).toThrow(`has no ${name}`);
    own.dispose();
    bare.dispose();
  },
);
