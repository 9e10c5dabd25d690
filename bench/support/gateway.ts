import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-ports.ts';
import { accepting } from './accepting.ts';
import { GATEWAY_CORE } from './cores.ts';
import type { GatewayCounts, GatewayOrder } from './gateway-process.ts';
import { ProbedProcess } from './probed-process.ts';

export interface Gateway extends AsyncDisposable {
  readonly url: string;
  /** The same over TLS, where it has a certificate. */
  readonly tlsUrl: string;
  readonly tokens: readonly string[];
  /** Tokens of other accounts, which its answers are not for. */
  readonly strangers: readonly string[];
  /** Answers how often it was called so far. */
  order(order: GatewayOrder): Promise<GatewayCounts>;
}

/** The files of a server's key and its certificate. */
export interface TlsFiles {
  readonly key: string;
  readonly certificate: string;
}

const SCRIPT = fileURLToPath(new URL('gateway-process.ts', import.meta.url));

export interface GatewayOptions {
  readonly tls?: TlsFiles | null;
  /** Each login has positions with ids of its own, so that no two users' answers are alike. */
  readonly personal?: boolean;
}

export async function startGateway(
  instruments: number,
  tokens: number,
  { tls = null, personal = false }: GatewayOptions = {},
): Promise<Gateway> {
  const [port, tlsPort] = [await freePort(), await freePort()];
  const child = new ProbedProcess({
    script: SCRIPT,
    core: GATEWAY_CORE,
    environment: {
      PORT: String(port),
      INSTRUMENTS: String(instruments),
      TOKENS: String(tokens),
      PERSONAL: personal ? 'yes' : 'no',
      ...(tls && {
        TLS_PORT: String(tlsPort),
        TLS_KEY: tls.key,
        TLS_CERTIFICATE: tls.certificate,
      }),
    },
  });
  await accepting(child, port);
  return {
    url: `http://127.0.0.1:${port}`,
    tlsUrl: `https://127.0.0.1:${tlsPort}`,
    tokens: (await child.exchange({ tells: 'tokens' })) as string[],
    strangers: (await child.exchange({ tells: 'strangers' })) as string[],
    order: async (order) => (await child.exchange(order)) as GatewayCounts,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
