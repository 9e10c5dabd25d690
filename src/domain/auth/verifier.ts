import { ByteCollector } from '../../lib/byte-collector.ts';
import { type Clock, steadyClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { reasonOf } from '../../lib/reason-of.ts';
import { EXPIRY_LEEWAY_MS } from './claims.ts';
import { UnauthenticatedError } from './errors.ts';

/** The settings of the key, and the claims that a token must have. */
export interface VerifierOptions {
  readonly jwtJwksUrl: string | null;
  readonly jwtSecret: string | null;
  readonly jwtIssuer: string | null;
  readonly jwtAudience: string | null;
  readonly clock?: Clock;
  readonly log?: Pick<Log, 'warn' | 'info'>;
}

/** Resolves to true if the signature is valid, to false if the key set lacks its key or is unavailable. */
export type Verify = (token: string) => Promise<boolean>;

// Fixed here: a token must not choose its algorithm. It could choose `none`, or use an RSA public key as an HMAC secret.
const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'];
const KEY_SET_ALGORITHMS =
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

export const KEY_SET_TIMEOUT_MS = 2_000;
const KEY_SET_RETRY_MS = 5_000;
/** A set of a hundred keys with their certificates has a quarter of this size. */
const KEY_SET_MAX_BYTES = 1_048_576;

type Jose = typeof import('jose');

/** Null if no key is configured. Then only the gateway's acceptance proves a token, and the library jose is not loaded. */
export async function createVerifier(options: VerifierOptions): Promise<Verify | null> {
  if (options.jwtSecret === null && options.jwtJwksUrl === null) return null;
  const jose = await import('jose');
  const secret = options.jwtSecret && new TextEncoder().encode(options.jwtSecret);
  const key = secret ? () => secret : keySetOf(jose, options);
  const expectations = {
    algorithms: secret ? SECRET_ALGORITHMS : KEY_SET_ALGORITHMS,
    clockTolerance: EXPIRY_LEEWAY_MS / 1000,
    ...(options.jwtIssuer !== null && { issuer: options.jwtIssuer }),
    ...(options.jwtAudience !== null && { audience: options.jwtAudience }),
  };
  return (token) => check(jose, () => jose.jwtVerify(token, key, expectations));
}

function keySetOf(jose: Jose, options: VerifierOptions) {
  const fetcher = new KeySetFetcher(options);
  return jose.createRemoteJWKSet(new URL(options.jwtJwksUrl ?? ''), {
    timeoutDuration: KEY_SET_TIMEOUT_MS,
    [jose.customFetch]: (address, init) => fetcher.fetch(address, init),
  });
}

/** Fetches the key set for jose. A request waits for a slow key set, but fails at once for a few seconds after a failure. */
class KeySetFetcher {
  readonly #clock: Clock;
  readonly #log: VerifierOptions['log'];
  /** Null unless the last fetch failed. */
  #failedAtMs: number | null = null;

  constructor({ clock = steadyClock, log }: VerifierOptions) {
    this.#clock = clock;
    this.#log = log;
  }

  async fetch(...[address, init]: Parameters<typeof fetch>): Promise<Response> {
    const now = this.#clock.now();
    if (this.#failedAtMs !== null && now - this.#failedAtMs < KEY_SET_RETRY_MS) {
      throw new Error('the key set could not be fetched a moment ago');
    }
    try {
      const response = await fetch(address, init);
      if (!response.ok || response.body === null)
        throw new Error(`the key set was answered with status ${response.status}`);
      const keys = await bytesOf(response.body);
      if (this.#failedAtMs !== null) this.#log?.info({}, 'the key set is fetched again');
      this.#failedAtMs = null;
      return new Response(keys);
    } catch (error) {
      const reason = causeOf(error);
      // Logged once, because an unavailable key set is requested every few seconds.
      if (this.#failedAtMs === null) this.#log?.warn({ reason }, 'the key set cannot be fetched');
      this.#failedAtMs = this.#clock.now();
      throw error;
    }
  }
}

/** The message of an error of `fetch` is generic. The reason is in the error's cause. */
function causeOf(error: unknown): string {
  return reasonOf(error instanceof Error ? (error.cause ?? error) : error);
}

/** Reads the body. The signal that jose gave to `fetch` aborts it too, so one timeout covers head and body. */
async function bytesOf(body: ReadableStream<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const collector = new ByteCollector(KEY_SET_MAX_BYTES);
  for await (const chunk of body) {
    // Leaving the loop cancels the body, which closes the connection.
    if (!collector.add(Buffer.from(chunk))) throw new Error("the key set's answer is too large");
  }
  // The cast is for `Response`, which accepts no shared memory. The collector has none.
  return collector.take() as Buffer<ArrayBuffer>;
}

async function check({ errors }: Jose, verify: () => Promise<unknown>): Promise<boolean> {
  try {
    await verify();
    return true;
  } catch (error) {
    if (isAboutToken(errors, error)) throw new UnauthenticatedError('the token was refused', 'key');
    // The token counts as unverified, as if no key were configured: the gateway checks each call.
    return false;
  }
}

/**
 * Whether the error is about the token rather than about the keys. An unknown key id is about the keys: the key set can be
 * half a minute old, or come from an even older cache, so refusing the token would sign out the users of a new key.
 */
function isAboutToken(errors: Jose['errors'], error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported
  );
}
