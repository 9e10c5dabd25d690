import type { Core } from '../core.ts';

/** The age of a list, by the server's clock and this device's uptime; its wall clock is not used. */
export class Age {
  readonly #core: Pick<Core, 'environment' | 'serverClock'>;
  asOf: Date | null = null;
  #heard: { readonly ageMs: number; readonly up: number; readonly wall: number } | null = null;

  constructor(core: Pick<Core, 'environment' | 'serverClock'>) {
    this.#core = core;
  }

  /** An event says when the list was last confirmed. */
  heard(asOf: Date): void {
    this.asOf = asOf;
    const { environment, serverClock } = this.#core;
    const serverMs = serverClock.now() ?? asOf.getTime();
    this.#heard = {
      ageMs: Math.max(0, serverMs - asOf.getTime()),
      up: environment.uptime(),
      wall: environment.now(),
    };
  }

  /** The list was dropped. */
  forget(): void {
    this.asOf = null;
    this.#heard = null;
  }

  /** Null before the first list. Without a connection the device may have slept, which its uptime does not show. */
  ms(isFollowing: boolean): number | null {
    const { environment } = this.#core;
    const [up, wall] = [environment.uptime(), environment.now()];
    if (this.#heard === null) return null;
    const { ageMs, ...then } = this.#heard;
    return ageMs + Math.max(up - then.up, isFollowing ? 0 : wall - then.wall);
  }
}
