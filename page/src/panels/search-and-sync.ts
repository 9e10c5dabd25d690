import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { SEARCH_AND_SYNC } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import { formatBytes, formatMs, plural } from '../format.ts';
import { onClick } from '../on-click.ts';
import { ServerUnavailable, sandbox } from '../sandbox.ts';
import type { Example } from '../snippets.ts';

const SHOWN = 6;
const CHANGED_ROWS = 3;

/** The catalog's copy in this browser: searched as one types, and brought up to date by its changes alone. */
export function startSearchAndSync(app: App): void {
  const { client } = app;
  const input = find('search-text', HTMLInputElement);
  const code = new CodeBox('search-code', app, searchExample(input.value, null));
  /** A catalog that is loaded for the first time; no bytes where it did not come. */
  let whole = { bytes: 0, size: 0 };
  let loading = Promise.resolve();

  function search(): void {
    const text = input.value.trim();
    const startedAt = performance.now();
    const found = client.catalog.search(text, { limit: SHOWN });
    const ms = performance.now() - startedAt;
    find('search-results', HTMLElement).replaceChildren(
      ...found.map(({ symbol, name, leverage }) =>
        h(
          'li',
          {},
          h('b', {}, symbol),
          h('span', { class: 'name', dir: 'auto' }, name),
          h('span', { class: 'leverage' }, `1:${leverage}`),
        ),
      ),
    );
    find('search-none', HTMLElement).hidden = found.length > 0 || client.catalog.size === 0;
    setText(find('search-local', HTMLElement), `${formatMs(ms)}, no request`);
    code.show(searchExample(text, client.catalog.version));
  }

  /** The bytes of the catalog that the task brings. */
  async function bytesDuring(task: () => Promise<void>): Promise<number> {
    const before = app.catalogBytes();
    await task();
    return app.catalogBytes() - before;
  }

  function showCopy(): void {
    const { size, version } = client.catalog;
    setText(find('sync-size', HTMLElement), plural(size, 'instrument'));
    setText(find('sync-version', HTMLElement), version?.slice(0, 8) ?? '–');
    search();
  }

  function showSync(bytes: number, outcome: string): void {
    const saved = whole.bytes - bytes;
    const percent = Math.floor((100 * saved) / whole.bytes);
    const words = saved > 0 ? `${formatBytes(saved)} saved (${percent} %)` : 'All of it is new.';
    const isKnown = whole.bytes > 0;
    const share = isKnown ? Math.min(1, bytes / whole.bytes) : 0;
    find('sync-bar', HTMLElement).style.setProperty('--to', String(share));
    setText(find('sync-whole', HTMLElement), isKnown ? formatBytes(whole.bytes) : '–');
    setText(find('sync-bytes', HTMLElement), formatBytes(bytes));
    setText(find('sync-saved', HTMLElement), isKnown ? words : '–');
    setText(find('sync-outcome', HTMLElement), outcome);
  }

  async function sync(outcome: string): Promise<void> {
    const before = client.catalog.version;
    if (app.calls.outage !== null) throw new ServerUnavailable(app.calls.outage.reason);
    const bytes = await bytesDuring(() => client.catalog.sync());
    if (client.catalog.size !== whole.size) await measureWhole();
    const isSame = before === client.catalog.version;
    const text = isSame ? 'Nothing has changed: the server says so in one small answer.' : outcome;
    showSync(bytes, text);
    announce(text);
  }

  /** One after the other: the bytes of two at the same time could not be told apart. */
  function load({ unlessLoaded }: { readonly unlessLoaded: boolean }): void {
    loading = loading.then(() => (unlessLoaded && whole.bytes > 0 ? search() : loadNow()));
  }

  async function loadNow(): Promise<void> {
    await measureWhole();
    await client.catalog.load().catch(() => {});
    showCopy();
    await sync('The copy is up to date.').catch(() => {});
  }

  /** Loads it as a first visit does. */
  async function measureWhole(): Promise<void> {
    const visitor = app.anotherClient();
    const bytes = await bytesDuring(() => visitor.catalog.load().catch(() => {}));
    const { size } = visitor.catalog;
    whole = { bytes: size > 0 ? bytes : 0, size };
    visitor.dispose();
  }

  input.addEventListener('input', search);
  client.catalog.onChange(showCopy);
  onClick(find('sync-run', HTMLButtonElement), () => sync('The changes alone came.'));
  onClick(find('sync-change', HTMLButtonElement), async () => {
    await sandbox.changeCatalog(CHANGED_ROWS);
    await sync(
      `${plural(CHANGED_ROWS, 'instrument')} had changed at the gateway: they alone came.`,
    );
  });
  app.onUserChange(() => load({ unlessLoaded: false }));
  app.onReturn(() => load({ unlessLoaded: true }));
  load({ unlessLoaded: false });
}

function searchExample(text: string, version: string | null): Example {
  return {
    document: SEARCH_AND_SYNC,
    variables: { text, since: version ?? '' },
    client: `await client.catalog.load(); // at the app's start
const found = client.catalog.search(${JSON.stringify(text)}, { limit: ${SHOWN} });
console.log(found.map(({ symbol, name }) => symbol + ' ' + name));
await client.catalog.sync(); // fetches what has changed`,
  };
}
