import { formatBytes, formatMs } from '../format.ts';
import type { MeasuredCall } from '../network.ts';
import type { Receipt } from '../start-screen.ts';

/** Something that the app, the graph or the gateway did or met, at a moment or for a while. */
export interface Mark {
  readonly lane: 'app' | 'graph' | 'gateway';
  readonly kind: 'call' | 'event' | 'retry' | 'change' | 'fault';
  /** By the clock of this machine; of the recorded run, after its beginning. */
  readonly atMs: number;
  readonly ms?: number;
  readonly text: string;
}

const MARK = 'page:mark';

/** Tells whoever draws or records the lanes. */
export function noteMark(mark: Omit<Mark, 'atMs'> & { readonly atMs?: number }): void {
  dispatchEvent(new CustomEvent(MARK, { detail: { atMs: Date.now(), ...mark } }));
}

export function onMark(listener: (mark: Mark) => void): void {
  addEventListener(MARK, (event) => listener((event as CustomEvent<Mark>).detail));
}

type Answer = Pick<MeasuredCall, 'bytes' | 'problem' | 'body'>;

/** Notes a call of the app that has just been answered and, where the graph says what it did for it, that. */
export function noteCall(name: string, ms: number, { bytes, problem, body }: Answer): void {
  const atMs = Date.now() - ms;
  const kind = problem === null ? 'call' : 'fault';
  noteMark({ lane: 'app', kind, atMs, ms, text: `${name} · ${problem ?? formatBytes(bytes)}` });
  const { extensions } = (body ?? {}) as { extensions?: { gateway?: readonly Receipt[] } };
  if (extensions?.gateway === undefined) return;
  const behind = extensions.gateway.map(
    ({ operation, source, outcome, ms: callMs }) =>
      `${operation} ${outcome ?? (source === 'call' ? formatMs(callMs) : source)}`,
  );
  const text = `${name} · behind it ${behind.join(', ') || 'no call'}`;
  const ownMs = Math.max(0, ...extensions.gateway.map((receipt) => receipt.ms));
  // The rest of the time is the network's, there and back.
  noteMark({ lane: 'graph', kind: 'call', atMs: atMs + (ms - ownMs) / 2, ms: ownMs, text });
}
