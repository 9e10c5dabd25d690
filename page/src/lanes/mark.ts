/** Something that the app, the graph or the gateway did or met, at a moment or for a while. */
export interface Mark {
  readonly lane: 'app' | 'graph' | 'gateway';
  readonly kind: 'call' | 'event' | 'retry' | 'change' | 'fault';
  /** The time by the clock of this machine; of the recorded run, after its beginning. */
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
