import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { START_SCREEN } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import { formatBytes, formatMs, plural } from '../format.ts';
import { LOCAL, PHONE } from '../network.ts';
import { attempt, onClick } from '../on-click.ts';
import { comparisonOf, isWhole, outcomeOf } from '../outcome.ts';
import { Phone } from '../phone.ts';
import { ServerGone, sandbox } from '../sandbox.ts';
import {
  endOf,
  fetchFromGateway,
  fetchFromGraph,
  type Receipt,
  tickersPath,
  type Visit,
  type Way,
} from '../start-screen.ts';
import { drawWaterfall } from '../waterfall.ts';

type Both = Readonly<Record<'rest' | 'graph', Way | null>>;

export interface OneScreen {
  /** Ends with the first measurement. */
  readonly first: Promise<boolean>;
  /** Measures once more, with the token that is given even where it is refused. */
  run(token?: string | null): void;
}

const NONE: Both = { rest: null, graph: null };
const PHONES = ['rest', 'graph'] as const;
const FIGURES = ['calls', 'bytes', 'time'] as const;
const NO_FIGURES = { calls: '–', bytes: '–', time: '–' };
const GROUP = '{ catalog { group } }';

/** Two phones that draw the start screen at the same time: one as a front end fetches it from the gateway, one by one query. */
export function startOneScreen(app: App): OneScreen {
  const button = find('screen-run', HTMLButtonElement);
  const panel = find('screen-demo', HTMLElement);
  const form = find('screen-switches', HTMLFormElement);
  const phones = { rest: new Phone('rest-phone'), graph: new Phone('graph-phone') };
  let runs = 0;
  let isMeasured = false;

  new CodeBox('screen-code', app, {
    document: START_SCREEN,
    client: `const { data, errors } = await client.query(\`${START_SCREEN}\`);
console.log(data, errors);`,
  });

  const chosen = (name: string) => String(new FormData(form).get(name));

  async function measure(refused: string | null = null): Promise<void> {
    runs += 1;
    const own = runs;
    isMeasured = false;
    panel.setAttribute('aria-busy', 'true');
    draw(NONE);
    try {
      const both = await fetchBoth(refused, (sofar) => {
        // A later run measures anew, and this one would be another user's or another network's.
        if (own === runs) draw(sofar);
      });
      if (own !== runs) return;
      if (both.rest?.catalogSize) chooseSize(both.rest.catalogSize);
      const outcome = conclude(both);
      isMeasured = PHONES.every((name) => both[name] === null || isWhole(both[name]));
      if (own > 1) announce(outcome);
    } catch (error) {
      if (own !== runs) return;
      draw(NONE);
      throw error;
    } finally {
      if (own === runs) panel.removeAttribute('aria-busy');
    }
  }

  /** Another machine may not call the sandbox's gateway by itself: there the graph alone is measured. */
  async function fetchBoth(refused: string | null, show: (both: Both) => void) {
    await (runs === 1 ? app.calls.begin() : app.calls.refresh());
    if (app.calls.goneSince !== null) throw new ServerGone();
    const token = refused ?? (await validToken());
    const isNext = chosen('visit') === 'next';
    if (isNext) await storeAsFirstVisit(token);
    const visit: Visit = { token, network: chosen('network') === '3g' ? PHONE : LOCAL, isNext };
    let both = NONE;
    const shown = (name: (typeof PHONES)[number]) => (way: Way) => {
      both = { ...both, [name]: way };
      show(both);
    };
    const [rest, graph] = await Promise.all([
      app.calls.isRefused ? null : fetchFromGateway(app, visit, shown('rest')),
      fetchFromGraph(app, visit, shown('graph')),
    ]);
    return { rest, graph };
  }

  /** The client's query makes sure that the server accepts the token; the client gets another where it does not. */
  async function validToken(): Promise<string> {
    if (app.session.heldToken === null) await app.session.token({ force: false }).catch(() => {});
    else if (!app.line.isDown) await app.client.query('{ session { login } }');
    if (app.session.heldToken === null) throw new Error('Nobody is signed in.');
    return app.session.heldToken;
  }

  /** What an earlier visit has left, as far as it is not there yet. */
  async function storeAsFirstVisit(token: string): Promise<void> {
    const { data } = await app.client.query<{ catalog: { group: string } | null }>(GROUP);
    const headers = { authorization: `Bearer ${token}` };
    const tickers = data?.catalog && app.fetch(tickersPath(data.catalog.group), { headers });
    await Promise.allSettled([
      app.client.catalog.load(),
      Promise.resolve(tickers).then((answer) => answer?.arrayBuffer()),
    ]);
  }

  function draw(both: Both): void {
    const scaleMs = Math.max(...PHONES.map((name) => endOf(both[name]?.calls ?? [])));
    for (const name of PHONES) {
      const way = both[name];
      phones[name].draw(way);
      drawWaterfall(find(`${name}-calls`, HTMLElement), way?.calls ?? [], scaleMs);
      setText(find(`${name}-outcome`, HTMLElement), '');
      setText(find(`${name}-sum`, HTMLElement), '');
    }
    find('screen-receipts', HTMLElement).replaceChildren(
      ...(both.graph?.receipts ?? []).map(receipt),
    );
    setText(find('screen-verdict', HTMLElement), '');
    for (const name of FIGURES) setFigure(name, NO_FIGURES[name], '');
  }

  const again = () => attempt(button, () => measure());
  onClick(button, () => measure());
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('change', async ({ target }) => {
    const { name, value } = target as HTMLInputElement;
    await attempt(button, async () => {
      if (name === 'size') {
        await sandbox.resizeCatalog(Number(value));
        // The server has it in memory before it is measured, as on any but its first request.
        await app.client.query(GROUP);
      }
      await measure();
    });
  });
  app.onUserChange(() => void again());
  app.onReturn(() => {
    if (!isMeasured) void again();
  });
  return {
    first: again(),
    run: (token) => void attempt(button, () => measure(token)),
  };
}

/** Says what came; figures stand beside each other only where both screens are whole. Returns it in words. */
function conclude({ rest, graph }: Both & { readonly graph: Way }): string {
  const show = (name: (typeof PHONES)[number], way: Way) => {
    setText(find(`${name}-sum`, HTMLElement), sumOf(way));
    const outcome = outcomeOf(way);
    setText(find(`${name}-outcome`, HTMLElement), outcome);
    return outcome;
  };
  const figures = isWhole(graph) ? figuresOf(graph) : NO_FIGURES;
  const before = rest && isWhole(rest) && isWhole(graph) ? figuresOf(rest) : null;
  for (const name of FIGURES) {
    setFigure(name, figures[name], before ? `instead of ${before[name]}` : '');
  }
  const verdict = comparisonOf(rest, graph);
  setText(find('screen-verdict', HTMLElement), verdict);
  const overRest = rest ? `Over REST ${show('rest', rest)}. ` : '';
  return `${overRest}Over the graph ${show('graph', graph)}. ${verdict}`;
}

/** The catalog has more or less instruments for some groups, and other sizes than those that are offered. */
function chooseSize(size: number): void {
  const choices = [...document.querySelectorAll<HTMLInputElement>('#screen-switches [name=size]')];
  const distance = ({ value }: HTMLInputElement) => Math.abs(Math.log(Number(value) / size));
  const [nearest] = choices.sort((a, b) => distance(a) - distance(b));
  if (nearest) nearest.checked = true;
}

function setFigure(name: string, figure: string, before: string): void {
  setText(find(`screen-${name}`, HTMLElement), figure);
  setText(find(`screen-${name}-before`, HTMLElement), before);
}

function figuresOf({ calls }: Way) {
  const sent = calls.filter(({ isLocal }) => !isLocal);
  const bytes = sent.reduce((sum, each) => sum + each.bytes, 0);
  return {
    calls: String(sent.length),
    bytes: formatBytes(bytes),
    time: formatMs(endOf(calls)),
  };
}

function sumOf(way: Way): string {
  if (!isWhole(way)) return 'incomplete';
  const { calls, bytes, time } = figuresOf(way);
  return `${plural(Number(calls), 'call')}, ${bytes}, ${time}`;
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
