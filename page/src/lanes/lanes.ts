import type { App } from '../app.ts';
import { find, h, setText } from '../dom.ts';
import { formatMoney, formatMs, formatProfit, formatTime, plural } from '../format.ts';
import { type LookBack, SPAN_MS } from '../look-back.ts';
import { recordedAt, recordedBetween } from '../recorded-run.ts';
import { HAS_CONTROLS } from '../sandbox.ts';
import { type Mark, onMark } from './mark.ts';

/** The marks of one lane; more within a minute could not be told apart. */
const MAX_MARKS = 400;
const SHAPES = { bar: '', event: '○', retry: '↻', fault: '✕' };
const LEGEND = '▮ call · ○ event · ↻ retry · ✕ fault · LIVE, open: a change · drag to look back';

/**
 * The last minute in three lanes. A mark tells its details when it is pointed at, tapped or walked to; dragging through the
 * lanes, or the range below them, goes back in time, and holds the lanes still.
 */
export function startLanes({ calls }: App, past: LookBack): void {
  const beganAtMs = Date.now();
  const range = find('lanes-time', HTMLInputElement);
  const rows = find('lanes-rows', HTMLElement);
  const marks = new Map<Element, Mark>();
  let count = 0;
  // A recorded run is played as if it had been already.
  let nowMs = HAS_CONTROLS ? beganAtMs : beganAtMs - SPAN_MS;
  let pastWords: string | null = null;
  let chosen: Element | null = null;
  for (const place of document.querySelectorAll('.recorded-on')) {
    setText(place, new Date(recordedAt).toLocaleDateString('en-GB', { dateStyle: 'long' }));
  }

  function add(mark: Mark): void {
    const { lane, kind, atMs, ms = 0, text } = mark;
    const list = find(`lane-${lane}`, HTMLElement).firstElementChild as HTMLElement;
    const when = HAS_CONTROLS ? formatTime(new Date(atMs)) : `${formatMs(atMs % SPAN_MS)} in`;
    const words = kind === 'call' || kind === 'change' ? text : `${kind}: ${text}`;
    const label = [when, words, ...(ms > 0 ? [formatMs(ms)] : [])].join(' · ');
    const shape = kind === 'call' ? 'bar' : kind;
    const attributes = { role: 'option', id: `mark-${count}`, class: shape, 'aria-label': label };
    const shown = shape === 'change' ? text.replace(/:.*/, '') : SHAPES[shape];
    const item = h('div', attributes, shown);
    const from = 1 + (atMs - beganAtMs) / SPAN_MS;
    item.style.setProperty('--from', String(from));
    item.style.setProperty('--to', String(from + ms / SPAN_MS));
    count += 1;
    marks.set(item, mark);
    list.append(item);
    if (list.children.length > MAX_MARKS) remove(list.children[0] as Element);
  }

  function remove(item: Element): void {
    if (item === chosen) choose(null);
    marks.delete(item);
    item.remove();
  }

  function slide(): void {
    if (pastWords !== null) return;
    const lastMs = nowMs;
    nowMs = Date.now();
    if (!HAS_CONTROLS) for (const mark of recordedBetween(lastMs, nowMs)) add(mark);
    for (const [item, { atMs, ms = 0 }] of marks) {
      if (atMs + ms < nowMs - SPAN_MS) remove(item);
    }
    rows.style.setProperty('--now', String((nowMs - beganAtMs) / SPAN_MS));
  }

  function choose(item: Element | null): void {
    chosen?.removeAttribute('aria-selected');
    chosen?.closest('.lane')?.removeAttribute('aria-activedescendant');
    chosen = item;
    item?.setAttribute('aria-selected', 'true');
    item?.closest('.lane')?.setAttribute('aria-activedescendant', item.id);
    const details = item?.getAttribute('aria-label');
    setText(find('lanes-words', HTMLElement), details ?? pastWords ?? LEGEND);
  }

  function walk(event: KeyboardEvent): void {
    const lane = (event.target as Element).closest('.lane');
    if (lane === null) return;
    const inOrder = [...marks]
      .filter(([item, { atMs }]) => lane.contains(item) && atMs <= nowMs)
      .sort(([, a], [, b]) => a.atMs - b.atMs)
      .map(([item]) => item);
    const at = chosen === null ? inOrder.length : inOrder.indexOf(chosen);
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: inOrder.length - 1 };
    const to = steps[event.key as keyof typeof steps];
    if (to === undefined) return;
    event.preventDefault();
    choose(inOrder[to] ?? chosen);
  }

  function lookAt(secondsAgo: number): void {
    slide();
    past.lookAt(secondsAgo > 0 && HAS_CONTROLS ? nowMs - secondsAgo * 1_000 : null);
  }

  rows.addEventListener('pointerover', ({ target }) =>
    choose((target as Element).closest('.marks > *')),
  );
  rows.addEventListener('pointerleave', ({ pointerType }) => {
    if (pointerType === 'mouse') choose(null);
  });
  rows.addEventListener('focusout', ({ target }) => {
    if ((target as Element).contains(chosen)) choose(null);
  });
  rows.addEventListener('keydown', walk);
  rows.addEventListener('pointermove', ({ clientX, movementX, buttons }) => {
    if (buttons !== 1 || movementX === 0) return;
    const { right, width } = find('lane-app', HTMLElement).getBoundingClientRect();
    choose(null);
    lookAt((Math.min(1, (right - clientX) / width) * SPAN_MS) / 1_000);
  });
  range.addEventListener('input', () => lookAt(-range.valueAsNumber));
  onMark((mark) => {
    if (HAS_CONTROLS) add(mark);
    slide();
  });
  calls.onChange(slide);
  past.onShown(({ session, totals }, atMs) => {
    const isPast = atMs !== null;
    const secondsAgo = isPast ? (nowMs - atMs) / 1_000 : 0;
    const time = isPast ? `as of ${formatTime(new Date(atMs))}` : 'now';
    const account = `Equity ${formatMoney(session?.equity)} · ${plural(totals?.count ?? 0, 'position')}, ${formatProfit(totals?.profit)}`;
    pastWords = isPast ? account : null;
    choose(chosen);
    range.value = String(-secondsAgo);
    range.setAttribute('aria-valuetext', time);
    for (const sign of document.querySelectorAll('.past-time')) setText(sign, time);
    rows.style.setProperty('--back', String((secondsAgo * 1_000) / SPAN_MS));
    // The strip goes along below the header, and what is jumped to comes to stand below both.
    const strip = find('lanes', HTMLElement);
    const top = isPast ? (document.querySelector('.top')?.clientHeight ?? 0) : 0;
    strip.style.top = `${top}px`;
    document.documentElement.style.scrollPaddingTop = isPast ? `${top + strip.offsetHeight}px` : '';
  });
}
