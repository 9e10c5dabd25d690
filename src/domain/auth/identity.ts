import type { Caller } from '../../gateway/exchange.ts';
import { ACCOUNT, LOGIN, TOKEN_TEXT } from '../../lib/account.ts';
import { growingLru, memo } from '../../lib/caches.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Token } from '../../lib/limits/request-caller.ts';
import { type ClaimNames, type Claims, readClaims } from './claims.ts';
import type { ProofLedger } from './proof.ts';
import { EXPIRY_LEEWAY_MS, UnauthenticatedError } from './token-errors.ts';
import type { Verify } from './verifier.ts';
import { accountOf, type OwnReads, type Viewer } from './viewer.ts';

export interface IdentityOptions {
  readonly clock: Clock;
  readonly claimNames: ClaimNames;
  readonly verify: Verify | null;
  readonly ledger: ProofLedger;
  /** Whether a valid signature proves the token's account; true by default. False if only the gateway knows its tenant. */
  readonly signatureProves?: boolean;
  readonly onRefused?: (error: UnauthenticatedError) => void;
}

interface KnownToken {
  readonly claims: Claims;
  isVerified: boolean;
}

const MAX_TOKENS = 50_000;

/** Maps a token to a viewer: synchronously for a known token, and never by a gateway call. */
export class Identity {
  readonly #options: IdentityOptions;
  readonly #known = growingLru<string, KnownToken>({
    maxEntries: MAX_TOKENS,
    entryBytes: 260,
  });

  constructor(options: IdentityOptions) {
    this.#options = options;
  }

  get byteSize(): number {
    return this.#known.calculatedSize;
  }

  /** `own`: the reads that the caller's document makes anyway. */
  identify(caller: Caller, own?: OwnReads): Viewer | Promise<Viewer> {
    const { token } = caller;
    if (token === null) throw new UnauthenticatedError('no token was sent');
    try {
      return this.#viewerOf(caller, token, own);
    } catch (error) {
      throw this.#reported(error);
    }
  }

  #viewerOf(caller: Caller, token: Token, own?: OwnReads): Viewer | Promise<Viewer> {
    const { clock, claimNames, verify } = this.#options;
    const entry = memo<string, KnownToken>(this.#known, token.hash, () => ({
      claims: readClaims(token[TOKEN_TEXT], claimNames),
      isVerified: false,
    }));
    assertNotExpired(entry.claims, clock.date());
    const { login, group: claimedGroup, expiresAtMs } = entry.claims;
    const viewer: Viewer = {
      ...caller,
      token,
      tokenHash: token.hash,
      [LOGIN]: login,
      [ACCOUNT]: accountOf(login, caller.forwarded),
      claimedGroup,
      expiresAtMs,
      own,
    };
    if (verify === null) return viewer;
    if (entry.isVerified) return this.#recordVerified(viewer);
    return verify(token[TOKEN_TEXT]).then(
      (isVerified) => {
        entry.isVerified = isVerified;
        return isVerified ? this.#recordVerified(viewer) : viewer;
      },
      (error: unknown) => {
        throw this.#reported(error);
      },
    );
  }

  #recordVerified(viewer: Viewer): Viewer {
    const { ledger, signatureProves = true } = this.#options;
    if (signatureProves) ledger.verified(viewer);
    return viewer;
  }

  /** A request without a token is not reported. */
  #reported(error: unknown): unknown {
    if (error instanceof UnauthenticatedError) this.#options.onRefused?.(error);
    return error;
  }
}

export function assertNotExpired(claims: Pick<Claims, 'expiresAtMs'>, nowMs: number): void {
  if (claims.expiresAtMs !== null && nowMs >= claims.expiresAtMs + EXPIRY_LEEWAY_MS) {
    throw new UnauthenticatedError('the token has expired');
  }
}
