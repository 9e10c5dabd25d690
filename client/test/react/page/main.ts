import { createRoot, hydrateRoot, type Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { type Client, createClient } from '../../../src/create-client.ts';
import type { OrderInput } from '../../../src/orders/order-input.ts';
import { app, shown, type View } from './view.ts';

const container = document.getElementById('root') as HTMLElement;
let root: Root | null = null;
let client = makeClient();

function makeClient(): Client {
  return createClient({
    url: import.meta.env.VITE_GRAPHQL_URL,
    token: () => page.token,
    // Without randomness there is no pause between repeats.
    environment: { random: () => 0 },
  });
}

/** The functions of the page that tests call. */
const page = {
  token: null as string | null,
  newClient() {
    client = makeClient();
  },
  /** Without a view the app is unmounted. */
  show(view: View | null): void {
    if (view === null) {
      root?.unmount();
      root = null;
      return;
    }
    root ??= createRoot(container);
    root.render(app(client, view));
  },
  /** Renders like a server, and lets React hydrate the page; returns the server's HTML. */
  hydrate(view: View): string {
    const html = renderToString(app(client, view));
    container.innerHTML = html;
    root = hydrateRoot(container, app(client, view), {
      onRecoverableError: (error) => console.error(`not hydrated: ${error}`),
    });
    return html;
  },
  follow: () => void client.positions(() => {}),
  place: async (input: OrderInput): Promise<string> =>
    (await shown.ticket?.place(input))?.status ?? 'none',
  retry: async (): Promise<string | null> => (await shown.ticket?.retry())?.status ?? null,
  reset: () => shown.ticket?.reset(),
  renders: () => shown.renders,
  counts: () => shown.counts,
};

export type TestPage = typeof page;
Object.assign(window, { testPage: page });
