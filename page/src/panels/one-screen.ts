import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { START_SCREEN } from '../documents.ts';
import { find, h, onClick, setText } from '../dom.ts';
import { formatBytes, formatMoney, formatMs, formatProfit, plural } from '../format.ts';
import { LOCAL, PHONE } from '../network.ts';
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
export function startOneScreen(app: App): Promise<void> {
  const isPhone = find('screen-phone', HTMLInputElement);
  const run = find('screen-run', HTMLButtonElement);
  const panel = find('screen-demo', HTMLElement);
  let runs = 0;

  new CodeBox('screen-code', app, {
    document: START_SCREEN,
    client: `const { data, errors } = await client.query(\`${START_SCREEN}\`);`,
  });

  async function measure(): Promise<void> {
    runs += 1;
    const own = runs;
    panel.setAttribute('aria-busy', 'true');
    const network = isPhone.checked ? PHONE : LOCAL;
    // The client's query makes sure that the token is one that the server accepts.
    await app.client.query('{ session { login } }');
    const token = app.session.heldToken;
    if (token === null) return showProblem('Nobody is signed in: the server does not answer.');
    const gateway = await fetchFromGateway(token, network);
    const graph = await fetchFromGraph(token, network);
    // A later click measures anew, and this result would be another user's or another network's.
    if (own !== runs) return;
    show(gateway, graph);
    panel.removeAttribute('aria-busy');
  }

  onClick(run, measure);
  isPhone.addEventListener('change', () => void measure());
  app.onUserChange(() => void measure());
  return measure();
}

function show(gateway: Fetched, graph: FetchedByGraph): void {
  const scaleMs = Math.max(gateway.elapsedMs, graph.elapsedMs);
  drawWaterfall(find('screen-gateway-calls', HTMLElement), gateway.calls, scaleMs);
  drawWaterfall(find('screen-graph-calls', HTMLElement), graph.calls, scaleMs);
  setText(find('screen-gateway-sum', HTMLElement), sumOf(gateway));
  setText(find('screen-graph-sum', HTMLElement), sumOf(graph));
  setFigure('calls', String(graph.calls.length), `instead of ${gateway.calls.length}`);
  setFigure('bytes', formatBytes(graph.bytes), `instead of ${formatBytes(gateway.bytes)}`);
  setFigure('time', formatMs(graph.elapsedMs), `instead of ${formatMs(gateway.elapsedMs)}`);
  find('screen-receipts', HTMLElement).replaceChildren(...graph.receipts.map(receipt));
  showScreen(gateway, graph);
}

function showScreen(gateway: Fetched, { data, rows, failed }: FetchedByGraph): void {
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
  const isSame = gateway.rows.join() === rows.join();
  const verdict =
    data !== null && failed.length > 0
      ? `${failed.join(', ')}. The rest of the screen is there.`
      : isSame
        ? `Both ways bring the same ${plural(rows.length, 'position')}, with the instruments’ names.`
        : 'The two ways differ: a call failed, or a position has changed in between.';
  setText(find('screen-verdict', HTMLElement), verdict);
}

function setFigure(name: string, figure: string, before: string): void {
  setText(find(`screen-${name}`, HTMLElement), figure);
  setText(find(`screen-${name}-before`, HTMLElement), before);
}

function sumOf({ calls, bytes, elapsedMs }: Fetched): string {
  return `${plural(calls.length, 'call')}, ${formatBytes(bytes)}, ${formatMs(elapsedMs)}`;
}

function receipt({ operation, ms, source }: Receipt): HTMLElement {
  const cost = source === 'call' ? formatMs(ms) : source;
  return h('li', {}, h('code', {}, operation), h('span', { class: `source ${source}` }, cost));
}

function showProblem(text: string): void {
  setText(find('screen-verdict', HTMLElement), text);
  find('screen-demo', HTMLElement).removeAttribute('aria-busy');
}
