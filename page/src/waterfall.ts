import { h } from './dom.ts';
import { formatBytes, formatMs } from './format.ts';
import type { MeasuredCall } from './network.ts';

/** Draws calls as bars on one scale, so that two waterfalls can be compared. Each row reads as a sentence too. */
export function drawWaterfall(
  list: HTMLElement,
  calls: readonly MeasuredCall[],
  scaleMs: number,
): void {
  const inOrder = [...calls].sort((a, b) => a.startMs - b.startMs);
  list.replaceChildren(...inOrder.map((call) => row(call, scaleMs)));
}

function row({ label, startMs, endMs, ...call }: MeasuredCall, scaleMs: number): HTMLElement {
  const { bytes, problem, isPartial } = call;
  const state = isPartial ? ' partial' : ' failed';
  const bar = h('span', { class: problem === null ? 'bar' : `bar${state}` });
  bar.style.setProperty('--from', String(startMs / scaleMs));
  bar.style.setProperty('--to', String(endMs / scaleMs));
  bar.style.transitionDelay = `${startMs}ms`;
  return h(
    'li',
    {},
    h('code', { class: 'call' }, label),
    h('span', { class: 'track', 'aria-hidden': 'true' }, bar),
    h('span', { class: 'figure' }, formatMs(endMs - startMs)),
    h('span', { class: 'figure' }, problem ?? formatBytes(bytes)),
  );
}
