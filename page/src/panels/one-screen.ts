import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { START_SCREEN } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import { formatBytes, formatMs } from '../format.ts';
import { LOCAL, PHONE, pause, type Receipt } from '../network.ts';
import { attempt, onClick } from '../on-click.ts';
import { comparisonOf, isWhole, onTheWay, outcomeOf } from '../outcome.ts';
import { Phone } from '../phone.ts';
import { comparison } from '../recorded-run.ts';
import { ServerGone, sandbox } from '../sandbox.ts';
import {
  endOf,
  fetchFromGateway,
  fetchFromGraph,
  type Visit,
  type Way,
} from '../start-screen.ts';
import { drawWaterfall } from '../waterfall.ts';

type Ways = Partial<Record<'rest' | 'graph', Way>>;

export interface OneScreen {
  /** Ends with the first measurement. */
  readonly first: Promise<boolean>;
  /** Measures once more, with the token that is given even where it is refused. */
  run(token?: string | null): void;
}

const PHONES = ['rest', 'graph'] as const;
const FIGURES = ['calls', 'bytes', 'time'] as const;

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

  async function measure(refused: string | null = null, resize?: number): Promise<void> {
    runs += 1;
    const own = runs;
    isMeasured = false;
    panel.setAttribute('aria-busy', 'true');
    draw({});
    try {
      const ways: Ways = {};
      if (resize !== undefined) {
        await sandbox.resizeCatalog(resize);
        // The server has it in memory before it is measured, as on any but its first request.
        await app.client.query('{ catalog { size } }');
      }
      const [rest, graph] = await fetchBoth(refused, (name, way) => {
        // A later run measures anew, and this one would be another user's or another network's.
        if (own === runs) draw(Object.assign(ways, { [name]: way }));
      });
      if (own !== runs) return;
      // For whoever records the page.
      dispatchEvent(new CustomEvent('page:comparison', { detail: { rest, graph } }));
      if (rest.catalogSize) chooseSize(rest.catalogSize);
      const outcome = conclude(rest, graph);
      isMeasured = isWhole(rest) && isWhole(graph);
      if (own > 1) announce(outcome);
    } catch (error) {
      if (own !== runs) return;
      draw({});
      throw error;
    } finally {
      if (own === runs) panel.removeAttribute('aria-busy');
    }
  }

  /** Another machine may not call the sandbox's gateway by itself: there the graph alone is measured, beside what was recorded. */
  async function fetchBoth(refused: string | null, show: (name: keyof Ways, way: Way) => void) {
    await (runs === 1 ? app.calls.begin() : app.calls.refresh());
    if (app.calls.goneSince !== null) throw new ServerGone();
    const token = refused ?? (await validToken());
    const isNext = chosen('visit') === 'next';
    const visit: Visit = { token, network: chosen('network') === '3g' ? PHONE : LOCAL, isNext };
    // A first visit fills the browser's cache and the client's storage, as far as they do not have it yet.
    const first = () => fetchFromGateway(app, { ...visit, network: LOCAL }, () => {});
    if (isNext && !app.line.isDown) await Promise.allSettled([first(), app.client.catalog.load()]);
    return Promise.all([
      app.calls.isRefused
        ? playRecorded((way) => show('rest', way))
        : fetchFromGateway(app, visit, (way) => show('rest', way)),
      fetchFromGraph(app, visit, (way) => show('graph', way)),
    ]);
  }

  /** The client's query makes sure that the server accepts the token; the client gets another where it does not. */
  async function validToken(): Promise<string> {
    if (app.session.heldToken === null) await app.session.token({ force: false }).catch(() => {});
    else if (!app.line.isDown) await app.client.query('{ session { login } }');
    if (app.session.heldToken === null) throw new Error('Nobody is signed in.');
    return app.session.heldToken;
  }

  function draw(ways: Ways): void {
    const scaleMs = Math.max(...PHONES.map((name) => endOf(ways[name]?.calls)));
    for (const name of PHONES) {
      const way = ways[name];
      phones[name].draw(way);
      drawWaterfall(find(`${name}-calls`, HTMLElement), way?.calls ?? [], scaleMs);
      setText(find(`${name}-outcome`, HTMLElement), '');
    }
    find('screen-receipts', HTMLElement).replaceChildren(
      ...(ways.graph?.receipts ?? []).map(receipt),
    );
    setText(find('screen-verdict', HTMLElement), onTheWay(Object.values(ways)));
    for (const name of FIGURES) setFigure(name, '–', '');
  }

  const again = () => attempt(button, () => measure());
  onClick(button, () => measure());
  form.addEventListener('change', ({ target }) => {
    const { name, value } = target as HTMLInputElement;
    void attempt(button, () => measure(null, name === 'size' ? Number(value) : undefined));
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

/** Takes as long as it took when it was recorded. */
async function playRecorded(show: (way: Way) => void): Promise<Way> {
  const { rest } = comparison;
  await pause(endOf(rest.calls));
  show(rest);
  return rest;
}

/** Says what came; figures stand beside each other only where both screens are whole. Returns it in words. */
function conclude(rest: Way, graph: Way): string {
  const isRecorded = rest === comparison.rest;
  const outcomes = Object.entries({ rest, graph }).map(([name, way]) => {
    const outcome = outcomeOf(way);
    setText(find(`${name}-outcome`, HTMLElement), outcome);
    return `${name}: ${outcome}.`;
  });
  if (isRecorded || (isWhole(rest) && isWhole(graph))) {
    const before = figuresOf(rest);
    const after = figuresOf(isRecorded ? comparison.graph : graph);
    for (const name of FIGURES) setFigure(name, after[name], `instead of ${before[name]}`);
  }
  const verdict = isRecorded
    ? 'The comparison is recorded; the phone over the graph is measured here.'
    : comparisonOf(rest, graph);
  setText(find('screen-verdict', HTMLElement), verdict);
  return [...outcomes, verdict].join(' ');
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

function figuresOf({ calls }: Pick<Way, 'calls'>) {
  const sent = calls.filter(({ isLocal }) => !isLocal);
  const bytes = sent.reduce((sum, each) => sum + each.bytes, 0);
  return {
    calls: String(sent.length),
    bytes: formatBytes(bytes),
    time: formatMs(endOf(calls)),
  };
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
