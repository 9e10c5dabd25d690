import { h } from './dom.ts';
import { formatBytes, formatMs } from './format.ts';
import type { MeasuredCall } from './network.ts';

/** Draws calls as bars on one scale, so that two waterfalls can be compared; a call that was repeated has a bar for each time. */
export function drawWaterfall(
  list: HTMLElement,
  calls: readonly MeasuredCall[],
  scaleMs: number,
): void {
  const inOrder = [...calls].sort((a, b) => a.startMs - b.startMs);
  const rows = Map.groupBy(inOrder, ({ label }) => label);
  list.replaceChildren(...[...rows].map(([label, each]) => row(label, each, scaleMs)));
}

function row(label: string, calls: readonly MeasuredCall[], scaleMs: number): HTMLElement {
  const last = calls.at(-1);
  const ms = (last?.endMs ?? 0) - (calls[0]?.startMs ?? 0);
  return h(
    'li',
    {},
    h('code', { class: 'call' }, label),
    h(
      'span',
      { class: 'track', 'aria-hidden': 'true' },
      ...calls.map((call) => bar(call, scaleMs)),
    ),
    h('span', { class: 'figure' }, formatMs(ms)),
    h('span', { class: 'figure' }, last?.problem ?? formatBytes(last?.bytes ?? 0)),
  );
}

function bar({ problem, isPartial, startMs, endMs }: MeasuredCall, scaleMs: number): HTMLElement {
  const state = isPartial ? ' partial' : ' failed';
  const drawn = h('span', { class: problem === null ? 'bar' : `bar${state}` });
  drawn.style.setProperty('--from', String(startMs / scaleMs));
  drawn.style.setProperty('--to', String(endMs / scaleMs));
  drawn.style.transitionDelay = `${startMs}ms`;
  return drawn;
}
