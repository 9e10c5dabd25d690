import type { Caller } from '../../gateway/caller.ts';
import type { Login } from '../../lib/account.ts';
import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import type { Token } from '../../lib/token.ts';
import { assertNotExpired, type ClaimNames, type Claims, readClaims } from './claims.ts';
import { UnauthenticatedError } from './errors.ts';
import type { ProofLedger, Standing } from './proof.ts';
import type { Verify } from './verifier.ts';
import { accountOf, type OwnReads, type Viewer } from './viewer.ts';

export interface IdentityOptions {
  readonly clock: Clock;
  readonly claimNames: ClaimNames;
  readonly verify: Verify | null;
  readonly ledger: ProofLedger;
  /** Left out where a valid signature says whose the token is; false where the gateway alone can say of which tenant. */
  readonly signatureProves?: boolean;
  /** Called with each request whose token is refused here. */
  readonly onRefused?: (error: UnauthenticatedError) => void;
}

interface KnownToken {
  readonly claims: Claims;
  verified: boolean;
}

const KNOWN_TOKENS = 50_000;

/** Maps a token to a viewer: synchronously for a known token, and never by a gateway call. */
export function createIdentity(options: IdentityOptions) {
  const { clock, claimNames, verify, ledger, signatureProves = true } = options;
  const { onRefused = () => {} } = options;
  const known = growingLru<string, KnownToken>({ maxEntries: KNOWN_TOKENS, entryBytes: 260 });

  function read({ text, hash }: Token): KnownToken {
    const before = known.get(hash);
    if (before) return before;
    const entry = { claims: readClaims(text, claimNames), verified: false };
    known.set(hash, entry);
    return entry;
  }

  /** A request without a token is no sign of anything. */
  function noted(error: unknown): unknown {
    if (error instanceof UnauthenticatedError) onRefused(error);
    return error;
  }

  /** It holds nothing of the request, which some of its viewers outlast. */
  const provedLoginOf = (standing: Standing, login: Login) => () =>
    standing.isProved ? login : null;

  function viewerOf(caller: Caller, token: Token, own?: OwnReads): Viewer | Promise<Viewer> {
    const entry = read(token);
    assertNotExpired(entry.claims, clock.date());
    const { login, group: claimedGroup, expiresAtMs } = entry.claims;
    const { signal, client, requestId, trace, forwarded, priority, receipt } = caller;
    const standing = ledger.standing(token, caller.standing);
    const viewer: Viewer = {
      token,
      standing,
      tokenHash: token.hash,
      login,
      account: accountOf(login, forwarded),
      claimedGroup,
      expiresAtMs,
      provedLogin: provedLoginOf(standing, login),
      signal,
      client,
      requestId,
      trace,
      forwarded,
      priority,
      receipt,
      own,
    };
    if (verify === null) return viewer;
    if (entry.verified) {
      if (signatureProves) ledger.verified(viewer);
      return viewer;
    }
    return verify(token.text).then(
      (checked) => {
        entry.verified = checked;
        if (checked && signatureProves) ledger.verified(viewer);
        return viewer;
      },
      (error: unknown) => {
        throw noted(error);
      },
    );
  }

  return {
    /** The size of what is remembered of tokens that were read before. */
    get byteSize(): number {
      return known.calculatedSize;
    },
    /** `own`: the reads that the caller's document makes anyway. */
    identify(caller: Caller, own?: OwnReads): Viewer | Promise<Viewer> {
      const { token } = caller;
      if (token === null) throw new UnauthenticatedError('no token was sent');
      try {
        return viewerOf(caller, token, own);
      } catch (error) {
        throw noted(error);
      }
    },
  };
}
