import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnauthenticatedError, UnknownKeyError } from '../../../src/domain/auth/token-errors.ts';
import {
  createVerifier,
  type VerifierOptions,
  type Verify,
} from '../../../src/domain/auth/verifier.ts';
import { eventually } from '../../support/eventually.ts';
import { listenLocally } from '../../support/local-server.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { inSeconds, signedToken, unsignedToken, withClaims } from '../../support/tokens.ts';

const SECRET = 'a secret of thirty-two bytes or more';
const claims = { login: 1, exp: inSeconds(3_600) };

const opened = new DisposableStack();
afterAll(() => opened.dispose());

async function openVerifier(options: Partial<VerifierOptions>) {
  const verifier = await createVerifier({
    jwtJwksUrl: null,
    jwtSecret: null,
    jwtIssuer: null,
    jwtAudience: null,
    ...options,
  });
  if (verifier === null) throw new Error('no key is configured');
  return opened.use(verifier);
}

async function verifier(options: Partial<VerifierOptions>): Promise<Verify> {
  return (await openVerifier(options)).verify;
}

describe('a shared secret', () => {
  let verify: Verify;
  beforeAll(async () => {
    verify = await verifier({ jwtSecret: SECRET });
  });
  const refuses = (token: string) => expect(verify(token)).rejects.toThrow(UnauthenticatedError);

  test('refuses other secrets, other algorithms and changed claims', async () => {
    const good = signedToken({ claims, secret: SECRET });
    await refuses(signedToken({ claims, secret: 'another secret' }));
    await refuses(unsignedToken(claims));
    await refuses(signedToken({ claims, secret: SECRET, header: { alg: 'none' } }));
    await refuses(signedToken({ claims, secret: SECRET, header: { alg: 'RS256' } }));
    await refuses(signedToken({ claims, secret: SECRET, header: {} }));
    await refuses(withClaims(good, { login: 2 }));
    await refuses(`${good.slice(0, good.lastIndexOf('.'))}.`);
  });

  test('refuses a token that is expired or not valid yet, with half a minute’s leeway', async () => {
    const tokenWith = (times: object) =>
      signedToken({ claims: { ...claims, ...times }, secret: SECRET });
    await refuses(tokenWith({ exp: inSeconds(-31) }));
    expect(await verify(tokenWith({ exp: inSeconds(-28) }))).toBe(true);
    await refuses(tokenWith({ nbf: inSeconds(40) }));
    expect(await verify(tokenWith({ nbf: inSeconds(20) }))).toBe(true);
  });

  test('requires issuer and audience if they are configured', async () => {
    const strict = await verifier({
      jwtSecret: SECRET,
      jwtIssuer: 'https://issuer',
      jwtAudience: 'app',
    });
    const tokenWith = (more: object) =>
      signedToken({ claims: { ...claims, ...more }, secret: SECRET });
    expect(await strict(tokenWith({ iss: 'https://issuer', aud: ['app', 'web'] }))).toBe(true);
    for (const more of [
      {},
      { iss: 'https://issuer' },
      { iss: 'https://other', aud: 'app' },
      { iss: 'https://issuer', aud: 'other' },
    ]) {
      await expect(strict(tokenWith(more))).rejects.toThrow(UnauthenticatedError);
    }
  });
});

describe('a key set', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' };
  const keySet = JSON.stringify({ keys: [jwk] });

  const signed = (header: object, key: KeyObject = privateKey) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = `${part(header)}.${part(claims)}`;
    return `${body}.${sign('sha256', Buffer.from(body), key).toString('base64url')}`;
  };

  /** Starts a server that answers with the key set by default, and counts its requests. */
  async function serve(listener: RequestListener = (_request, response) => response.end(keySet)) {
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      listener(request, response);
    });
    const local = await listenLocally(server);
    return { ...local, url: `${local.url}/keys`, requests: () => requests };
  }

  test('accepts only the signatures of its keys, and is fetched once', async () => {
    await using keys = await serve();
    const verify = await verifier({ jwtJwksUrl: keys.url });
    const token = signed({ alg: 'RS256', kid: 'one' });
    expect(await Promise.all([verify(token), verify(token)])).toEqual([true, true]);
    const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    for (const token of [
      signed({ alg: 'RS256', kid: 'one' }, foreignKey),
      // The public key is no secret: if it were accepted as an HMAC secret, any attacker could sign tokens.
      signedToken({ claims, secret: pem, header: { alg: 'HS256', kid: 'one' } }),
      signedToken({ claims, secret: String(jwk.n), header: { alg: 'HS256' } }),
      unsignedToken(claims),
    ]) {
      await expect(verify(token), token).rejects.toThrow(UnauthenticatedError);
    }
    expect(keys.requests()).toBe(1);
  });

  test.each(['EdDSA', 'Ed25519'])('accepts a signature with the algorithm %s', async (alg) => {
    const pair = generateKeyPairSync('ed25519');
    const own = { ...pair.publicKey.export({ format: 'jwk' }), kid: 'two' };
    await using keys = await serve((_request, response) =>
      response.end(JSON.stringify({ keys: [own] })),
    );
    const verify = await verifier({ jwtJwksUrl: keys.url });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = `${part({ alg, kid: 'two' })}.${part(claims)}`;
    const signature = sign(null, Buffer.from(body), pair.privateKey).toString('base64url');
    expect(await verify(`${body}.${signature}`)).toBe(true);
  });

  test('is read once more for unknown keys, which then count or are refused; until then their tokens wait', async () => {
    const rotated = generateKeyPairSync('rsa', { modulusLength: 2048 });
    let served = { keys: [jwk] };
    await using keys = await serve((_request, response) => response.end(JSON.stringify(served)));
    const clock = createScriptedClock();
    const verify = await verifier({ jwtJwksUrl: keys.url, clock });
    expect(await verify(signed({ alg: 'RS256', kid: 'one' }))).toBe(true);
    served = {
      keys: [jwk, { ...jwk, ...rotated.publicKey.export({ format: 'jwk' }), kid: 'two' }],
    };
    // The set was read a moment ago, before the rotation.
    const young = signed({ alg: 'RS256', kid: 'two' }, rotated.privateKey);
    await expect(verify(young)).rejects.toMatchObject({ retryAfterSeconds: 10 });
    const forged = Array.from({ length: 100 }, (_, kid) => signed({ alg: 'RS256', kid: `${kid}` }));
    const all = () => Promise.allSettled(forged.map(verify));
    const areAll = (
      errorClass: abstract new (...given: never[]) => Error,
      ends: PromiseSettledResult<boolean>[],
    ) => ends.every((end) => end.status === 'rejected' && end.reason instanceof errorClass);
    expect(areAll(UnknownKeyError, await all())).toBe(true);
    expect(keys.requests()).toBe(1);
    await clock.advance(10_000);
    expect(areAll(UnauthenticatedError, await all())).toBe(true);
    expect(await verify(young)).toBe(true);
    const late = signed({ alg: 'RS256', kid: 'late' });
    await expect(verify(late)).rejects.toThrow(UnknownKeyError);
    expect(areAll(UnauthenticatedError, await all())).toBe(true);
    expect(keys.requests()).toBe(2);
    // A token that names no key may be of any of them.
    expect(await verify(signed({ alg: 'RS256' }, rotated.privateKey))).toBe(true);
    const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    await expect(verify(signed({ alg: 'RS256' }, foreignKey))).rejects.toThrow(
      UnauthenticatedError,
    );
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['never ends', (response) => writeForever(response, ' '.repeat(65_536))],
    ['never ends and arrives byte by byte', (response) => writeForever(response, ' ')],
    [
      'unpacks to gigabytes of zeros',
      (response) => {
        response.setHeader('content-encoding', 'gzip');
        writeForever(response, gzipSync(Buffer.alloc(16_777_216)));
      },
    ],
  ])('whose answer %s is aborted at the size limit', async (_what, respond) => {
    const sockets: Socket[] = [];
    await using keys = await serve((request, response) => {
      sockets.push(request.socket);
      respond(response);
    });
    const verify = await verifier({ jwtJwksUrl: keys.url });
    const before = process.memoryUsage();
    expect(await verify(signed({ alg: 'RS256', kid: 'one' }))).toBe(false);
    await eventually(() => sockets.every(({ destroyed }) => destroyed));
    const [socket] = sockets;
    // This bound is far above the size limit, because the socket buffers of both ends come on top.
    expect(socket?.bytesWritten).toBeLessThan(16_777_216);
    expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(67_108_864);
  });

  test('is not needed to refuse a forbidden algorithm', async () => {
    await using keys = await serve((_request, response) => response.writeHead(503).end());
    const verify = await verifier({ jwtJwksUrl: keys.url });
    for (const alg of ['none', 'HS256', 'HS512', 'RSA1_5', 'ES256K', 'unheard of']) {
      const token = signedToken({ claims, secret: SECRET, header: { alg, kid: 'one' } });
      await expect(verify(token), alg).rejects.toThrow(UnauthenticatedError);
    }
  });

  test.each([503, 204])(
    'that cannot be read (%i) verifies nothing; once it was read, its keys stay while it cannot be read again',
    async (status) => {
      let isUp = false;
      await using keys = await serve((_request, response) => {
        if (isUp) response.end(keySet);
        else response.writeHead(status).end();
      });
      const clock = createScriptedClock();
      const { verify, degradedReason } = await openVerifier({ jwtJwksUrl: keys.url, clock });
      const token = signed({ alg: 'RS256', kid: 'one' });
      expect(await Promise.all([verify(token), verify(token)])).toEqual([false, false]);
      expect(keys.requests()).toBe(1);
      expect(degradedReason()).toBe(
        `the key set cannot be read (status ${status}): tokens count as unverified`,
      );
      isUp = true;
      await clock.advance(9_000);
      expect(await verify(token)).toBe(false);
      await clock.advance(1_000);
      await eventually(async () => expect(await verify(token)).toBe(true));
      expect(degradedReason()).toBeNull();
      isUp = false;
      await clock.advance(600_000);
      await eventually(() => expect(degradedReason()).toContain('that were read last still count'));
      expect(await verify(token)).toBe(true);
      await clock.advance(10_000);
      const unknown = signed({ alg: 'RS256', kid: 'two' });
      await expect(verify(unknown)).rejects.toThrow(UnknownKeyError);
    },
  );

  test('refuses a token of an unusable key of the set', async () => {
    const broken = { ...jwk, kid: 'broken', n: 'AQAB' };
    await using keys = await serve((_request, response) =>
      response.end(JSON.stringify({ keys: [jwk, broken] })),
    );
    const verify = await verifier({ jwtJwksUrl: keys.url });
    await expect(verify(signed({ alg: 'RS256', kid: 'broken' }))).rejects.toThrow();
    expect(await verify(signed({ alg: 'RS256', kid: 'one' }))).toBe(true);
  });
});

/** Writes the piece again and again, as fast as the other end reads. */
function writeForever(response: ServerResponse, piece: string | Buffer): void {
  const writeNext = () => {
    if (response.destroyed) return;
    if (response.write(piece)) setImmediate(writeNext);
    else response.once('drain', writeNext);
  };
  writeNext();
}
