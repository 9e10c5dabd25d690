import { fileURLToPath } from 'node:url';
import { GATEWAY_CORE } from './cores.ts';
import type { Market } from './gateway-process.ts';
import { ProbedProcess } from './probed-process.ts';

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

const SCRIPT = fileURLToPath(new URL('gateway-process.ts', import.meta.url));

export async function startGateway(instruments: number, tokens: number) {
  const child = await ProbedProcess.listening({
    script: SCRIPT,
    core: GATEWAY_CORE,
    environment: { INSTRUMENTS: String(instruments), TOKENS: String(tokens) },
  });
  const setMarket = (market: Market) => child.exchange({ market });
  return {
    url: `http://127.0.0.1:${child.port}`,
    tokens: (await setMarket('still')) as string[],
    setMarket,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
