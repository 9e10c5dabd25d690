import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { captionOf, isWhole, type Ways } from '../caption.ts';
import { START_SCREEN } from '../documents.ts';
import { find, setText } from '../dom.ts';
import { formatBytes, formatMs, formatTime } from '../format.ts';
import { attempt, onClick } from '../on-click.ts';
import { Phone } from '../phone.ts';
import { HAS_CONTROLS } from '../sandbox.ts';
import { endOf, fetchFromGateway, fetchFromGraph, type Way } from '../start-screen.ts';

export interface OneScreen {
  /** A fault has begun: measures, and names the fault in the caption. */
  broken(name: string): Promise<unknown>;
  /** The fault is over: describes what was shown during it, and measures again. */
  mended(name: string): void;
}

const PHONES = ['rest', 'graph'] as const;
/** Longer times are not shown: they measure the slow machine. */
const MAX_SHOWN_MS = 1_000;
const NAMES = new Intl.ListFormat('en-GB');

/**
 * Two phones that draw the start screen at the same time: one with the calls that a front end makes to the gateway, one
 * with one query.
 */
export function startOneScreen(app: App): OneScreen {
  const button = find('screen-run', HTMLButtonElement);
  const panel = find('screen-demo', HTMLElement);
  const phones = { rest: new Phone('rest-phone'), graph: new Phone('graph-phone') };
  const broken = new Map<string, Date>();
  let story = '';
  let runs = 0;
  let shown: Ways = {};

  setText(find('screen-query', HTMLElement), START_SCREEN);

  async function measure(): Promise<void> {
    runs += 1;
    const own = runs;
    panel.setAttribute('aria-busy', 'true');
    draw({});
    const show = (ways: Ways) => {
      if (own === runs) draw({ ...shown, ...ways });
    };
    try {
      const token = await app.token({ force: false });
      const [rest, graph] = await Promise.all([
        // Other machines may not call the gateway directly.
        HAS_CONTROLS ? fetchFromGateway(app, token, (way) => show({ rest: way })) : null,
        fetchFromGraph(app, token, (way) => show({ graph: way })),
      ]);
      if (own !== runs) return;
      // Figures are compared only if both screens are complete.
      if (rest !== null && isWhole(rest) && isWhole(graph)) drawFigures(graph, rest);
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

  function draw(ways: Ways): void {
    shown = ways;
    for (const name of PHONES) phones[name].draw(ways[name]);
    drawFigures();
    setText(find('screen-verdict', HTMLElement), sentence());
    setText(find('outage-verdict', HTMLElement), outage());
  }

  function sentence(): string {
    if (!HAS_CONTROLS) return 'The app over the graph opens its screen by one query.';
    const seen = captionOf(shown);
    return seen.charAt(0).toUpperCase() + seen.slice(1);
  }

  function outage(): string {
    const [since] = broken.values();
    if (since === undefined) return story;
    return `${NAMES.format(broken.keys())}, since ${formatTime(since)}: ${captionOf(shown)}`;
  }

  const rerun = () => {
    story = '';
    return measure();
  };
  onClick(button, rerun);
  void attempt(button, measure);
  return {
    broken(name) {
      broken.set(name, new Date());
      return attempt(button, rerun);
    },
    mended(name) {
      const times = `${formatTime(broken.get(name) ?? null)} to ${formatTime(new Date())}`;
      broken.delete(name);
      story = `${name}, ${times}: ${captionOf(shown, 'showed')}`;
      void attempt(button, measure);
    },
  };
}

function drawFigures(graph?: Way, rest?: Way): void {
  const after = graph && figuresOf(graph);
  const before = rest && figuresOf(rest);
  for (const name of ['calls', 'bytes', 'time'] as const) {
    setText(find(`screen-${name}`, HTMLElement), after?.[name] ?? '–');
    setText(find(`screen-${name}-before`, HTMLElement), before ? `instead of ${before[name]}` : '');
  }
  const areSlow = graph !== undefined && rest !== undefined && endOf(graph.calls) > MAX_SHOWN_MS;
  find('screen-time-box', HTMLElement).hidden = areSlow;
  setText(find('rest-cost', HTMLElement), before?.cost ?? '');
  setText(find('graph-cost', HTMLElement), after?.cost ?? '');
}

function figuresOf({ calls }: Way) {
  const bytes = formatBytes(calls.reduce((sum, each) => sum + each.bytes, 0));
  const cost = `${calls.length === 1 ? '1 call' : `${calls.length} calls`}, ${bytes}`;
  return { calls: String(calls.length), bytes, time: formatMs(endOf(calls)), cost };
}
