import { createRoot, hydrateRoot, type Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { type Client, createClient } from '../../../src/create-client.ts';
import type { OrderInput } from '../../../src/orders/order-input.ts';
import type { PlaceOptions } from '../../../src/orders/ticket.ts';
import { app, shown, type View } from './view.ts';

/** The functions of the page that tests call. */
export interface TestPage {
  token: string | null;
  newClient(): void;
  /** Without a view the app is unmounted. */
  show(view: View | null): void;
  /** Renders as a server does, and lets React take up the page; the answer is what the server wrote. */
  hydrate(view: View): string;
  follow(): void;
  tokenChanged(): Promise<void>;
  place(input: OrderInput, options?: PlaceOptions): Promise<string>;
  retry(): Promise<string | null>;
  reset(): void;
  refresh(): Promise<void>;
  /** Whether all components have the same catalog, and it is the one that was remembered last. */
  isSameCatalog(): boolean;
  rememberCatalog(): void;
  renders(): number;
}

const container = document.getElementById('root') as HTMLElement;
let root: Root | null = null;
let client = makeClient();
let remembered: unknown = null;

function makeClient(): Client {
  return createClient({
    url: import.meta.env.VITE_GRAPHQL_URL,
    token: () => page.token,
  });
}

const page: TestPage = {
  token: null,
  newClient() {
    client = makeClient();
  },
  show(view) {
    if (view === null) {
      root?.unmount();
      root = null;
      return;
    }
    root ??= createRoot(container);
    root.render(app(client, view));
  },
  hydrate(view) {
    const html = renderToString(app(client, view));
    container.innerHTML = html;
    root = hydrateRoot(container, app(client, view), {
      onRecoverableError: (error) => console.error(`not hydrated: ${error}`),
    });
    return html;
  },
  follow: () => void client.positions(() => {}),
  tokenChanged: () => client.tokenChanged(),
  place: async (input, options) => (await shown.ticket?.place(input, options))?.status ?? 'none',
  retry: async () => (await shown.ticket?.retry())?.status ?? null,
  reset: () => shown.ticket?.reset(),
  refresh: async () => await shown.catalogs[0]?.refresh(),
  isSameCatalog: () => shown.catalogs.every((catalog) => catalog === remembered),
  rememberCatalog() {
    remembered = shown.catalogs[0];
  },
  renders: () => shown.renders,
};

Object.assign(window, { testPage: page });
