import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { type ScreenData, START_SCREEN } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import { formatBytes, formatMoney, formatMs, formatProfit, plural } from '../format.ts';
import { LOCAL, PHONE } from '../network.ts';
import { attempt, onClick } from '../on-click.ts';
import { comparison } from '../recorded-run.ts';
import { ServerGone } from '../sandbox.ts';
import {
  type Fetched,
  type FetchedByGraph,
  fetchFromGateway,
  fetchFromGraph,
  type Receipt,
} from '../start-screen.ts';
import { drawWaterfall } from '../waterfall.ts';

const SHOWN_POSITIONS = 4;

/** The start screen as a front end fetches it from the gateway, and by one query. Ends with the first measurement. */
export function startOneScreen(app: App): Promise<boolean> {
  const isPhone = find('screen-phone', HTMLInputElement);
  const run = find('screen-run', HTMLButtonElement);
  const panel = find('screen-demo', HTMLElement);
  let runs = 0;
  let isMeasured = false;

  new CodeBox('screen-code', app, {
    document: START_SCREEN,
    client: `const { data, errors } = await client.query(\`${START_SCREEN}\`);
console.log(data, errors);`,
  });

  async function measure(): Promise<void> {
    runs += 1;
    const own = runs;
    panel.setAttribute('aria-busy', 'true');
    isMeasured = false;
    try {
      const [gateway, graph] = await fetchBoth();
      // A later click measures anew, and this result would be another user's or another network's.
      if (own !== runs) return;
      // For whoever records the page.
      dispatchEvent(new CustomEvent('page:comparison', { detail: [gateway, graph] }));
      show(gateway, graph);
      isMeasured = (gateway === null || isWhole(gateway)) && isWhole(graph);
    } catch (error) {
      if (own !== runs) return;
      clear();
      throw error;
    } finally {
      if (own === runs) panel.removeAttribute('aria-busy');
    }
  }

  /** Another machine may not call the sandbox's gateway by itself: there the graph alone is measured. */
  async function fetchBoth(): Promise<readonly [Fetched | null, FetchedByGraph]> {
    const network = isPhone.checked ? PHONE : LOCAL;
    await (runs === 1 ? app.calls.begin() : app.calls.refresh());
    if (app.calls.goneSince !== null) throw new ServerGone();
    if (app.line.isDown) throw new Error('This app’s connection is down.');
    // The client's query makes sure that the token is one that the server accepts; a new one is.
    if (app.session.heldToken === null) await app.session.token({ force: false }).catch(() => {});
    else await app.client.query('{ session { login } }');
    const token = app.session.heldToken;
    if (token === null) throw new Error('Nobody is signed in.');
    const firstCame = Promise.withResolvers<void>();
    const fetching = app.calls.isRefused
      ? firstCame.resolve()
      : fetchFromGateway(token, network, firstCame.resolve);
    // The graph is asked beside the one call that is left, which disturbs its time little, and nobody waits for both.
    await firstCame.promise;
    const [gateway = null, graph] = await Promise.all([fetching, fetchFromGraph(token, network)]);
    if (graph.calls.some(({ status }) => status === null)) throw new ServerGone();
    return [gateway, graph];
  }

  const measureAgain = () => attempt(run, measure);
  onClick(run, measure);
  isPhone.addEventListener('change', measureAgain);
  app.onUserChange(() => {
    clear();
    void measureAgain();
  });
  app.onReturn(() => {
    if (!isMeasured) void measureAgain();
  });
  return measureAgain();
}

function show(gateway: Fetched | null, graph: FetchedByGraph): void {
  if (gateway === null) showCalls(...comparison);
  else showCalls(gateway, graph);
  showScreen(graph.data);
  setText(find('screen-verdict', HTMLElement), verdictOn(gateway, graph));
}

function showCalls(gateway: Fetched, graph: Fetched & Pick<FetchedByGraph, 'receipts'>): void {
  const scaleMs = Math.max(gateway.elapsedMs, graph.elapsedMs);
  drawWaterfall(find('screen-gateway-calls', HTMLElement), gateway.calls, scaleMs);
  drawWaterfall(find('screen-graph-calls', HTMLElement), graph.calls, scaleMs);
  setText(find('screen-gateway-sum', HTMLElement), sumOf(gateway));
  setText(find('screen-graph-sum', HTMLElement), sumOf(graph));
  const before = isWhole(gateway) && isWhole(graph) ? figuresOf(gateway) : null;
  const figures = figuresOf(graph);
  for (const name of ['calls', 'bytes', 'time'] as const) {
    const figure = isWhole(graph) ? figures[name] : '–';
    setFigure(name, figure, before ? `instead of ${before[name]}` : '');
  }
  find('screen-receipts', HTMLElement).replaceChildren(...graph.receipts.map(receipt));
}

function verdictOn(gateway: Fetched | null, graph: FetchedByGraph): string {
  const { arrived, rows, failed } = graph;
  const rest = arrived === 0 ? '' : ' The rest of the screen is there.';
  const ours = isWhole(graph) ? '' : `Through the graph: ${failed.join(', ')}.${rest}`;
  if (gateway === null) {
    return `The figures are recorded. ${ours || `Measured here, through the graph alone: ${sumOf(graph)}.`}`;
  }
  const theirs = isWhole(gateway) ? '' : `From the gateway: ${gateway.failed.join(', ')}.`;
  if (ours || theirs) return [ours, theirs, 'Nothing is compared.'].filter(Boolean).join(' ');
  return gateway.rows.join() === rows.join()
    ? `Both ways bring the same ${plural(rows.length, 'position')}, with the instruments’ names.`
    : 'The two ways differ: a position has changed in between.';
}

function isWhole({ failed }: Fetched): boolean {
  return failed.length === 0;
}

function showScreen(data: ScreenData | null): void {
  const { session, positions, withdrawalMethods, customerId } = data ?? {};
  const currency = session?.currency ?? '';
  setText(find('screen-equity', HTMLElement), `${formatMoney(session?.equity)} ${currency}`);
  setText(find('screen-balance', HTMLElement), formatMoney(session?.balance));
  setText(find('screen-customer', HTMLElement), customerId ?? '–');
  const [method] = withdrawalMethods ?? [];
  setText(find('screen-method', HTMLElement), method ? `${method.title}, ${method.status}` : '–');
  find('screen-positions', HTMLElement).replaceChildren(
    ...(positions ?? [])
      .slice(0, SHOWN_POSITIONS)
      .map(({ symbol, instrument, profit }) =>
        h(
          'li',
          {},
          h('b', {}, symbol),
          h('span', { class: 'name' }, instrument?.name ?? ''),
          h(
            'span',
            { class: profit !== null && profit < 0 ? 'loss' : 'profit' },
            formatProfit(profit),
          ),
        ),
      ),
  );
  setText(find('screen-verdict', HTMLElement), '');
}

function setFigure(name: string, figure: string, before: string): void {
  setText(find(`screen-${name}`, HTMLElement), figure);
  setText(find(`screen-${name}-before`, HTMLElement), before);
}

function figuresOf({ calls, bytes, elapsedMs }: Fetched) {
  return { calls: String(calls.length), bytes: formatBytes(bytes), time: formatMs(elapsedMs) };
}

function sumOf(fetched: Fetched): string {
  const { calls, bytes, elapsedMs } = fetched;
  if (!isWhole(fetched)) return 'incomplete';
  return `${plural(calls.length, 'call')}, ${formatBytes(bytes)}, ${formatMs(elapsedMs)}`;
}

function receipt({ operation, ms, source, outcome }: Receipt): HTMLElement {
  const cost = source === 'call' ? formatMs(ms) : source;
  const failure = outcome === undefined ? '' : `, failed (${outcome})`;
  return h(
    'li',
    {},
    h('code', {}, operation),
    h('span', { class: failure ? 'source failed' : `source ${source}` }, cost + failure),
  );
}

/** Figures that stayed would be taken for those of the attempt that failed. */
function clear(): void {
  for (const name of ['calls', 'bytes', 'time']) setFigure(name, '–', '');
  for (const name of ['gateway-sum', 'graph-sum', 'gateway-calls', 'graph-calls', 'receipts']) {
    find(`screen-${name}`, HTMLElement).replaceChildren();
  }
  showScreen(null);
}
