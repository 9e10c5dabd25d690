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
  /** Called when a fault has begun: measures, and names the fault in the caption. */
  faultBegan(name: string): Promise<unknown>;
  /** Called when the fault is over: describes the phones during the fault, and measures again. */
  faultEnded(name: string): void;
}

const PHONES = ['rest', 'graph'] as const;
/** Longer times are not shown, because only a slow machine causes them. */
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
  /** The present faults, and when each began. */
  const faults = new Map<string, Date>();
  /** The caption of the last fault after its end. */
  let lastFault = '';
  let runs = 0;
  let shown: Ways = {};

  setText(find('screen-query', HTMLElement), START_SCREEN);
  // A phone has no room beside the drawn ones.
  find('query', HTMLDetailsElement).open = matchMedia('(width >= 45em)').matches;

  async function measure(): Promise<void> {
    runs += 1;
    // A later run replaces this one.
    const run = runs;
    panel.setAttribute('aria-busy', 'true');
    draw({});
    const show = (ways: Ways) => {
      if (run === runs) draw({ ...shown, ...ways });
    };
    try {
      const token = await app.token({ force: false });
      const [rest, graph] = await Promise.all([
        // Other machines may not call the gateway directly.
        HAS_CONTROLS ? fetchFromGateway(app, token, (way) => show({ rest: way })) : null,
        fetchFromGraph(app, token, (way) => show({ graph: way })),
      ]);
      if (run !== runs) return;
      // Figures are compared only if both screens are complete.
      if (rest !== null && isWhole(rest) && isWhole(graph)) drawFigures(graph, rest);
      // The first run belongs to the loading of the page, and is not announced.
      if (run > 1) announce(sentence());
    } catch (error) {
      if (run !== runs) return;
      draw({});
      setText(find('screen-verdict', HTMLElement), 'Neither app can open its screen.');
      throw error;
    } finally {
      if (run === runs) panel.removeAttribute('aria-busy');
    }
  }

  function draw(ways: Ways): void {
    shown = ways;
    for (const name of PHONES) phones[name].draw(ways[name]);
    drawFigures();
    setText(find('screen-verdict', HTMLElement), sentence());
    setText(find('outage-verdict', HTMLElement), faultCaption());
  }

  function sentence(): string {
    if (!HAS_CONTROLS) return 'The app over the graph opens its screen by one query.';
    const seen = captionOf(shown);
    return seen.charAt(0).toUpperCase() + seen.slice(1);
  }

  function faultCaption(): string {
    const [since] = faults.values();
    if (since === undefined) return lastFault;
    return `${NAMES.format(faults.keys())}, since ${formatTime(since)}: ${captionOf(shown)}`;
  }

  const rerun = () => {
    lastFault = '';
    return measure();
  };
  onClick(button, rerun);
  void attempt(button, measure);
  return {
    faultBegan(name) {
      faults.set(name, new Date());
      return attempt(button, rerun);
    },
    faultEnded(name) {
      const times = `${formatTime(faults.get(name) ?? null)} to ${formatTime(new Date())}`;
      faults.delete(name);
      lastFault = `${name}, ${times}: ${captionOf(shown, 'showed')}`;
      void attempt(button, measure);
    },
  };
}

/** Draws the figures of two complete ways; without them, empties the figures. */
function drawFigures(graph?: Way, rest?: Way): void {
  const after = graph && figuresOf(graph);
  const before = rest && figuresOf(rest);
  for (const name of ['calls', 'bytes', 'time'] as const) {
    setText(find(`screen-${name}`, HTMLElement), after?.[name] ?? '–');
    setText(find(`screen-${name}-before`, HTMLElement), before ? `REST: ${before[name]}` : '');
  }
  const isTooSlow = graph !== undefined && rest !== undefined && endOf(graph.calls) > MAX_SHOWN_MS;
  find('screen-time-box', HTMLElement).hidden = isTooSlow;
  setText(find('rest-cost', HTMLElement), before?.cost ?? '');
  setText(find('graph-cost', HTMLElement), after?.cost ?? '');
}

function figuresOf({ calls }: Way) {
  const bytes = formatBytes(calls.reduce((sum, each) => sum + each.bytes, 0));
  const cost = `${calls.length === 1 ? '1 call' : `${calls.length} calls`}, ${bytes}`;
  return { calls: String(calls.length), bytes, time: formatMs(endOf(calls)), cost };
}
