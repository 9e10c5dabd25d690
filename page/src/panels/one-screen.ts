import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { captionOf, isWhole, type Ways } from '../caption.ts';
import { CodeBox } from '../code-box.ts';
import { START_SCREEN } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import { formatBytes, formatMs, formatTime } from '../format.ts';
import { LOCAL, PHONE, pause, type Receipt } from '../network.ts';
import { attempt, onClick } from '../on-click.ts';
import { Phone } from '../phone.ts';
import { comparison } from '../recorded-run.ts';
import { HAS_CONTROLS, PRESETS, ServerUnavailable, sandbox } from '../sandbox.ts';
import { endOf, fetchFromGateway, fetchFromGraph, type Visit, type Way } from '../start-screen.ts';
import { drawWaterfall } from '../waterfall.ts';

export interface OneScreen {
  /** Ends with the first measurement. */
  readonly first: Promise<boolean>;
  /** Measures while something is broken, and says so. */
  broken(name: string): Promise<unknown>;
  /** Says what was seen while it was broken, and measures anew. */
  mended(name: string): void;
}

const PHONES = ['rest', 'graph'] as const;
const NAMES = new Intl.ListFormat('en-GB');

/** Two phones that draw the start screen at the same time: one as a front end fetches it from the gateway, one by one query. */
export function startOneScreen(app: App): OneScreen {
  const button = find('screen-run', HTMLButtonElement);
  const panel = find('screen-demo', HTMLElement);
  const form = find('screen-switches', HTMLFormElement);
  const phones = { rest: new Phone('rest-phone'), graph: new Phone('graph-phone') };
  const broken = new Map<string, Date>();
  let story = '';
  /** Faults that somebody else has set, which the phones show as well. */
  let others = '';
  let runs = 0;
  let shown: Ways = {};
  let isMeasured = false;

  new CodeBox('screen-code', app, {
    document: START_SCREEN,
    client: `const { data, errors } = await client.query(\`${START_SCREEN}\`);
console.log(data, errors);`,
  });

  const chosen = (name: string) => String(new FormData(form).get(name));

  async function measure(resize?: number): Promise<void> {
    runs += 1;
    const own = runs;
    isMeasured = false;
    others = '';
    panel.setAttribute('aria-busy', 'true');
    draw({});
    try {
      if (resize !== undefined) {
        await sandbox.resizeCatalog(resize);
        // The server has it in memory before it is measured, as on any but its first request.
        await app.client.query('{ catalog { size } }');
      }
      const [rest, graph] = await fetchBoth((way) => {
        // A later run measures anew, and this one would be another user's or another network's.
        if (own === runs) draw({ ...shown, ...way });
      });
      if (own !== runs) return;
      // For whoever records the page.
      dispatchEvent(new CustomEvent('page:comparison', { detail: { rest, graph } }));
      if (rest.catalogSize) chooseSize(rest.catalogSize);
      isMeasured = isWhole(rest) && isWhole(graph);
      // Figures stand beside each other only where both screens are whole.
      if (isMeasured) drawFigures(figuresOf(graph), figuresOf(rest));
      else if (broken.size === 0) await nameFaults();
      if (own > 1) announce(sentence());
    } catch (error) {
      if (own !== runs) return;
      draw({});
      setText(find('screen-verdict', HTMLElement), 'Neither app can open its screen.');
      throw error;
    } finally {
      if (own === runs) panel.removeAttribute('aria-busy');
    }
  }

  async function fetchBoth(show: (way: Ways) => void) {
    if (!HAS_CONTROLS) return playRecorded(show);
    if (app.calls.outage !== null) throw new ServerUnavailable(app.calls.outage.reason);
    const token = await validToken();
    const isNext = chosen('visit') === 'next';
    const visit: Visit = { token, network: chosen('network') === '3g' ? PHONE : LOCAL, isNext };
    // A first visit fills the browser's cache and the client's storage, as far as they do not have it yet.
    const first = () => fetchFromGateway(app, { ...visit, network: LOCAL }, () => {});
    if (isNext) await Promise.allSettled([first(), app.client.catalog.load()]);
    return Promise.all([
      fetchFromGateway(app, visit, (rest) => show({ rest })),
      fetchFromGraph(app, visit, (graph) => show({ graph })),
    ]);
  }

  /** The client's query makes sure that the server accepts the token; the client gets another where it does not. */
  async function validToken(): Promise<string> {
    if (app.session.heldToken === null) await app.session.token({ force: false }).catch(() => {});
    else await app.client.query('{ session { login } }');
    if (app.session.heldToken === null) throw new Error('Nobody is signed in.');
    return app.session.heldToken;
  }

  function draw(ways: Ways): void {
    shown = ways;
    const scaleMs = Math.max(...PHONES.map((name) => endOf(ways[name]?.calls)));
    for (const name of PHONES) {
      phones[name].draw(ways[name]);
      drawWaterfall(find(`${name}-calls`, HTMLElement), ways[name]?.calls ?? [], scaleMs);
    }
    find('screen-receipts', HTMLElement).replaceChildren(
      ...(ways.graph?.receipts ?? []).map(receipt),
    );
    drawFigures();
    tell();
  }

  function tell(): void {
    setText(find('screen-verdict', HTMLElement), sentence());
    setText(find('outage-verdict', HTMLElement), outage());
  }

  async function nameFaults(): Promise<void> {
    const names = (await sandbox.faults()).map(({ operation, kind }) => {
      const tapped = PRESETS.find(([, , of]) => of.operation === operation && of.kind === kind);
      return tapped?.[0] ?? `${operation} ${kind}`;
    });
    if (names.length > 0) others = ` Set by another visitor: ${NAMES.format(names)}.`;
    tell();
  }

  function sentence(): string {
    const seen = captionOf(shown);
    return seen.charAt(0).toUpperCase() + seen.slice(1) + others;
  }

  function outage(): string {
    const [since] = broken.values();
    if (since === undefined) return story;
    return `${NAMES.format(broken.keys())}, since ${formatTime(since)}: ${captionOf(shown)}`;
  }

  function rerun(resize?: number): Promise<void> {
    story = '';
    return measure(resize);
  }

  const again = () => attempt(button, () => rerun());
  onClick(button, () => rerun());
  form.addEventListener('change', ({ target }) => {
    const { name, value } = target as HTMLInputElement;
    void attempt(button, () => rerun(name === 'size' ? Number(value) : undefined));
  });
  app.onUserChange(() => void again());
  app.onReturn(() => {
    if (!isMeasured) void again();
  });
  return {
    first: again(),
    broken(name) {
      broken.set(name, new Date());
      return attempt(button, () => rerun());
    },
    mended(name) {
      const times = `${formatTime(broken.get(name) ?? null)} to ${formatTime(new Date())}`;
      broken.delete(name);
      story = `${name}, ${times}: ${captionOf(shown, 'showed')}`;
      void attempt(button, () => measure());
    },
  };
}

/** Plays the recorded run, as fast as it was; both phones showed the same. */
function playRecorded(show: (way: Ways) => void): Promise<readonly [Way, Way]> {
  const { rest } = comparison;
  const graph = { ...rest, ...comparison.graph };
  const play = async (ways: Ways, way: Way) => {
    await pause(endOf(way.calls));
    show(ways);
    return way;
  };
  return Promise.all([play({ rest }, rest), play({ graph }, graph)]);
}

/** The catalog has more or less instruments for some groups, and other sizes than those that are offered. */
function chooseSize(size: number): void {
  const choices = [...document.querySelectorAll<HTMLInputElement>('#screen-switches [name=size]')];
  const distance = ({ value }: HTMLInputElement) => Math.abs(Math.log(Number(value) / size));
  const [nearest] = choices.sort((a, b) => distance(a) - distance(b));
  if (nearest) nearest.checked = true;
}

function drawFigures(after?: Figures, before?: Figures): void {
  for (const name of ['calls', 'bytes', 'time'] as const) {
    setText(find(`screen-${name}`, HTMLElement), after?.[name] ?? '–');
    setText(find(`screen-${name}-before`, HTMLElement), before ? `instead of ${before[name]}` : '');
  }
  setText(find('rest-cost', HTMLElement), before?.cost ?? '');
  setText(find('graph-cost', HTMLElement), after?.cost ?? '');
}

type Figures = ReturnType<typeof figuresOf>;

function figuresOf({ calls }: Way) {
  const sent = calls.filter(({ isLocal }) => !isLocal);
  const bytes = formatBytes(sent.reduce((sum, each) => sum + each.bytes, 0));
  const cost = `${sent.length === 1 ? '1 call' : `${sent.length} calls`}, ${bytes}`;
  return { calls: String(sent.length), bytes, time: formatMs(endOf(calls)), cost };
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
