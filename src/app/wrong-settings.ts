import type { SettingName } from '../config/settings.ts';
import type { ConfigurationSigns } from '../domain/create-domain.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { RollingWindow } from '../lib/rolling-window.ts';

interface WrongSettingsOptions {
  /** A monotonic clock. */
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

interface Signs {
  answered: number;
  outsideInterface: number;
  rateLimited: number;
  catalogsForbidden: number;
  loginMissing: number;
  keyRefused: number;
  gatewayRefused: number;
}

interface Suspicion {
  readonly settings: readonly SettingName[];
  readonly detail: string;
  readonly isSeen: (signs: Signs) => boolean;
}

const WINDOW_MS = 60_000;
const SLICES = 12;
// Fewer may be one client's trouble.
const LEAST_SIGNS = 5;
const LEAST_RATE_LIMITED = 10;

/**
 * Sees settings that are valid and yet wrong by what they lead to, and names them. Anybody can send
 * rubbish for a token, so refused tokens are a sign only while not one has been accepted.
 */
export class WrongSettings implements ConfigurationSigns {
  readonly #options: WrongSettingsOptions;
  readonly #window: RollingWindow<Signs>;
  readonly #suspected = new Set<Suspicion>();
  #hasAccepted = false;
  #hasCatalog = false;
  #unreachable: string | null = null;

  constructor(options: WrongSettingsOptions) {
    this.#options = options;
    this.#window = new RollingWindow({
      clock: options.clock,
      spanMs: WINDOW_MS,
      slices: SLICES,
      create: noSigns,
    });
  }

  read(...[operation, result]: Parameters<ConfigurationSigns['read']>): void {
    const signs = this.#window.current();
    if (result === 'ok') {
      signs.answered += 1;
      if (operation === 'getAllTickers') this.#hasCatalog = true;
      if (this.#unreachable !== null) this.reachable();
      if (this.#suspected.size > 0) this.#judge();
      return;
    }
    // At a wrong path a server may say so in the interface's own error body.
    if (result === 'contract' || result === 'refused') signs.outsideInterface += 1;
    else if (result === 'rate-limited') signs.rateLimited += 1;
    else if (result === 'forbidden' && operation === 'getAllTickers') signs.catalogsForbidden += 1;
    else return;
    this.#judge();
  }

  token(verdict: Parameters<ConfigurationSigns['token']>[0]): void {
    if (verdict === 'accepted') {
      this.#hasAccepted = true;
      if (this.#suspected.size > 0) this.#judge();
      return;
    }
    // From now on they are strangers', and no sign of anything.
    if (this.#hasAccepted) return;
    const signs = this.#window.current();
    if (verdict === 'login') signs.loginMissing += 1;
    else if (verdict === 'key') signs.keyRefused += 1;
    else if (verdict === 'refused') signs.gatewayRefused += 1;
    else return;
    this.#judge();
  }

  /** No connection to the gateway's address can be made. */
  unreachable(reason: string): void {
    if (this.#unreachable === null) {
      this.#report(['GATEWAY_URL'], `the gateway cannot be reached: ${reason}`);
    }
    this.#unreachable = reason;
  }

  reachable(): void {
    if (this.#unreachable === null) return;
    this.#unreachable = null;
    this.#options.log.info({ settings: ['GATEWAY_URL'] }, 'a setting looks right again');
  }

  /** The settings that operators should look at, with the reason, or null. */
  degradedReason(): string | null {
    if (this.#suspected.size > 0) this.#judge();
    const details = [...this.#suspected].map(describe);
    if (this.#unreachable !== null) {
      details.unshift(`GATEWAY_URL: the gateway cannot be reached: ${this.#unreachable}`);
    }
    return details.length > 0 ? details.join('; ') : null;
  }

  #judge(): void {
    const signs = sum(this.#window.slices());
    for (const suspicion of this.#hasAccepted ? ABOUT_ANSWERS : ALL) {
      const isSeen = suspicion.isSeen(signs) && !(suspicion === GROUP_CLAIM && this.#hasCatalog);
      if (isSeen && !this.#suspected.has(suspicion)) {
        this.#suspected.add(suspicion);
        this.#report(suspicion.settings, suspicion.detail);
      } else if (!isSeen) this.#drop(suspicion);
    }
    if (this.#hasAccepted) for (const suspicion of ABOUT_TOKENS) this.#drop(suspicion);
  }

  #drop(suspicion: Suspicion): void {
    if (!this.#suspected.delete(suspicion)) return;
    this.#options.log.info({ settings: suspicion.settings }, 'a setting looks right again');
  }

  #report(settings: readonly SettingName[], detail: string): void {
    this.#options.log.warn({ settings, detail }, 'a setting looks wrong');
  }
}

const GROUP_CLAIM: Suspicion = {
  settings: ['GATEWAY_GROUP_CLAIM'],
  detail: 'the gateway forbids every catalog, so the claim may not hold the account group',
  isSeen: ({ catalogsForbidden }) => catalogsForbidden >= LEAST_SIGNS,
};

const ABOUT_ANSWERS: readonly Suspicion[] = [
  {
    settings: ['GATEWAY_URL'],
    detail:
      'all answers are refusals or outside the interface, as where the address or its path is another one',
    isSeen: ({ answered, outsideInterface }) => answered === 0 && outsideInterface >= LEAST_SIGNS,
  },
  {
    settings: ['GATEWAY_HEADERS', 'GATEWAY_POLLS_PER_SECOND'],
    detail:
      'the gateway answers 429 to everything: its quota for this service is too small or used up',
    isSeen: ({ answered, rateLimited }) => answered === 0 && rateLimited >= LEAST_RATE_LIMITED,
  },
  GROUP_CLAIM,
];

const ABOUT_TOKENS: readonly Suspicion[] = [
  {
    settings: ['GATEWAY_LOGIN_CLAIM'],
    detail: 'no token has had a usable login under that name',
    isSeen: ({ loginMissing }) => loginMissing >= LEAST_SIGNS,
  },
  {
    settings: ['JWT_JWKS_URL', 'JWT_SECRET', 'JWT_ISSUER', 'JWT_AUDIENCE'],
    detail: 'no token has passed the check of its signature, issuer and audience',
    isSeen: ({ keyRefused }) => keyRefused >= LEAST_SIGNS,
  },
  {
    settings: ['GATEWAY_URL', 'GATEWAY_HEADERS'],
    detail: 'the gateway has accepted no token, as one for other users would',
    isSeen: ({ gatewayRefused }) => gatewayRefused >= LEAST_SIGNS,
  },
];

const ALL: readonly Suspicion[] = [...ABOUT_ANSWERS, ...ABOUT_TOKENS];

function describe({ settings, detail }: Suspicion): string {
  return `${settings.join(', ')}: ${detail}`;
}

function noSigns(): Signs {
  return {
    answered: 0,
    outsideInterface: 0,
    rateLimited: 0,
    catalogsForbidden: 0,
    loginMissing: 0,
    keyRefused: 0,
    gatewayRefused: 0,
  };
}

function sum(slices: readonly Signs[]): Signs {
  const total = noSigns();
  for (const slice of slices) {
    for (const name of Object.keys(total) as (keyof Signs)[]) total[name] += slice[name];
  }
  return total;
}
